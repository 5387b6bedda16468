// What the file system says about GPU drivers, without loading any of them: manifests, libraries, versions, device
// files. The root is injected, so that every broken machine can be made in a folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/environment.h"

namespace candor {

struct FactSources {
  std::string root;  // "" but in tests
  Environment environment;
  // 0 or the errno that opening a device file for reading and writing would give; the system's by default.
  std::function<int(const std::string& path)> access_error;
};

struct ManifestFact {
  std::string path;          // without the root
  std::string problem;       // why it is no manifest; empty when it is one
  std::string library;       // as written in it
  std::string library_path;  // where that file is; empty when it is nowhere
  std::string load_error;    // what the linker said, once it was tried
  bool disabled = false;     // by VK_LOADER_DRIVERS_SELECT or _DISABLE
};

struct DeviceFileFact {
  std::string path;
  int error = 0;  // errno; 0: it can be used
};

struct DriverFacts {
  std::string vulkan_loader;               // path of libvulkan.so.1; empty: none
  std::string override_variable;           // "VK_DRIVER_FILES" or "VK_ICD_FILENAMES" when it is set
  std::vector<std::string> override_gone;  // what it names and does not exist
  std::vector<std::string> searched;       // folders and files that manifests were looked for in
  std::vector<ManifestFact> manifests;
  std::string nvidia_kernel_version;    // "580.95.05", of the loaded kernel module; empty: none is loaded
  std::string cuda_library;             // path of libcuda.so.1; empty: none
  std::string cuda_library_version;     // "580.95.05"
  std::string nvidia_graphics_library;  // path of libGLX_nvidia.so.0
  std::string nvidia_graphics_version;
  std::vector<DeviceFileFact> device_files;  // /dev/nvidia*, /dev/dri/renderD*
  std::vector<std::string> gpu_vendors;  // of the display controllers on the PCI bus: "nvidia", "amd", "intel", "0x…"
  bool container = false;
  std::string nvidia_capabilities;  // NVIDIA_DRIVER_CAPABILITIES
  bool mig = false;                 // a GPU of this machine is cut into MIG slices
  std::string distribution;         // ID and ID_LIKE of /etc/os-release: "ubuntu debian"
};

DriverFacts GatherDriverFacts(const FactSources& sources);

// Changes when a driver is installed, removed, updated or chosen differently: the paths, sizes and times of all files
// above and the variables that choose among them. 16 hexadecimal digits.
std::string DriverFingerprint(const DriverFacts& facts, const FactSources& sources);

}  // namespace candor
