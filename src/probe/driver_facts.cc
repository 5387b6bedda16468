#include "probe/driver_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cerrno>

#include <filesystem>

#include "platform/text_file.h"
#include "probe/file_search.h"
#include "probe/vulkan_manifests.h"

namespace candor {
namespace {

namespace fs = std::filesystem;

int SystemAccessError(const std::string& path) { return access(path.c_str(), R_OK | W_OK) == 0 ? 0 : errno; }

// The first word that looks like "580.95.05"; the rest of the line differs between the open and the closed module.
std::string FirstVersion(std::string_view text) {
  for (const std::string& line : SplitList(text, '\n')) {
    for (const std::string& word : SplitList(line, ' ')) {
      const bool plain =
          std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
      if (plain && word.find('.') != std::string::npos) return word;
    }
    break;
  }
  return "";
}

bool IsNvidiaDevice(const std::string& name) {
  if (name == "nvidiactl") return true;
  return name.starts_with("nvidia") && name.size() > 6 && std::isdigit(static_cast<unsigned char>(name[6])) != 0;
}

std::vector<DeviceFileFact> DeviceFiles(const FactSources& sources) {
  const auto error_of = sources.access_error ? sources.access_error : SystemAccessError;
  std::vector<DeviceFileFact> files;
  const auto add = [&](const std::string& path) { files.push_back({path, error_of(sources.root + path)}); };
  for (const std::string& name : ListFolder(sources.root + "/dev")) {
    if (IsNvidiaDevice(name)) add("/dev/" + name);
  }
  for (const std::string& name : ListFolder(sources.root + "/dev/dri")) {
    if (name.starts_with("renderD")) add("/dev/dri/" + name);
  }
  return files;
}

std::string VendorName(const std::string& id) {
  if (id == "0x10de") return "nvidia";
  if (id == "0x1002") return "amd";
  return id == "0x8086" ? "intel" : id;
}

std::vector<std::string> GpuVendors(const std::string& root) {
  std::vector<std::string> vendors;
  const std::string bus = root + "/sys/bus/pci/devices/";
  for (const std::string& slot : ListFolder(bus)) {
    const std::string type = ReadSmallTextFile(bus + slot + "/class").value_or("");
    if (!type.starts_with("0x03")) continue;  // PCI class 3: display controllers, 3D controllers among them
    const std::string vendor = ReadSmallTextFile(bus + slot + "/vendor").value_or("");
    vendors.push_back(VendorName(vendor.substr(0, vendor.find_last_not_of(" \n") + 1)));
  }
  return vendors;
}

bool HasMigSlices(const FactSources& sources) {
  const DriverEnvironment& drivers = sources.environment.drivers;
  if (drivers.nvidia_devices.value_or("").starts_with("MIG-")) return true;
  if (drivers.cuda_visible_devices.value_or("").starts_with("MIG-")) return true;
  const std::string folder = sources.root + "/proc/driver/nvidia/capabilities/";
  for (const std::string& gpu : ListFolder(folder)) {
    for (const std::string& slice : ListFolder(folder + gpu + "/mig")) {
      if (slice.starts_with("gi")) return true;
    }
  }
  return false;
}

std::string Distribution(const std::string& root) {
  std::string words;
  for (const std::string& line : SplitList(ReadSmallTextFile(root + "/etc/os-release").value_or(""), '\n')) {
    if (!line.starts_with("ID=") && !line.starts_with("ID_LIKE=")) continue;
    std::string value = line.substr(line.find('=') + 1);
    std::erase(value, '"');
    words += (words.empty() ? "" : " ") + value;
  }
  return words;
}

// FNV-1a of 64 bits: tells texts apart, and need not withstand anyone.
uint64_t Hash(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

std::string Stamp(const std::string& root, const std::string& path) {
  struct stat info = {};
  if (path.empty() || stat((root + path).c_str(), &info) != 0) return path + "|none\n";
  return fmt::format("{}|{}|{}.{}\n", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

DriverFacts GatherDriverFacts(const FactSources& sources) {
  const std::string& root = sources.root;
  DriverFacts facts;
  const std::vector<std::string> folders = LibraryFolders(root, sources.environment);
  facts.vulkan_loader = FindLibrary(root, folders, "libvulkan.so.1");
  FindVulkanManifests(sources, folders, facts);
  facts.nvidia_kernel_version = FirstVersion(ReadSmallTextFile(root + "/proc/driver/nvidia/version").value_or(""));
  facts.cuda_library = FindLibrary(root, folders, "libcuda.so.1");
  facts.cuda_library_version = LibraryVersion(root, facts.cuda_library);
  facts.nvidia_graphics_library = FindLibrary(root, folders, "libGLX_nvidia.so.0");
  facts.nvidia_graphics_version = LibraryVersion(root, facts.nvidia_graphics_library);
  facts.device_files = DeviceFiles(sources);
  facts.gpu_vendors = GpuVendors(root);
  std::error_code error;
  facts.container = fs::exists(root + "/.dockerenv", error) || fs::exists(root + "/run/.containerenv", error);
  facts.nvidia_capabilities = sources.environment.drivers.nvidia_capabilities.value_or("");
  facts.mig = HasMigSlices(sources);
  facts.distribution = Distribution(root);
  return facts;
}

std::string DriverFingerprint(const DriverFacts& facts, const FactSources& sources) {
  const DriverEnvironment& drivers = sources.environment.drivers;
  std::string text = Stamp(sources.root, facts.vulkan_loader) + Stamp(sources.root, facts.cuda_library) +
                     Stamp(sources.root, facts.nvidia_graphics_library);
  for (const ManifestFact& manifest : facts.manifests) {
    text += Stamp(sources.root, manifest.path) + Stamp(sources.root, manifest.library_path);
    text += manifest.disabled ? "disabled\n" : "";
  }
  text += facts.nvidia_kernel_version + "\n";
  for (const DeviceFileFact& file : facts.device_files) text += fmt::format("{} {}\n", file.path, file.error);
  for (const auto* variable : {&drivers.vk_driver_files, &drivers.vk_icd_filenames, &drivers.vk_add_driver_files,
                               &drivers.library_path, &drivers.nvidia_devices, &drivers.cuda_visible_devices}) {
    text += variable->value_or("") + "\n";
  }
  return fmt::format("{:016x}", Hash(text));
}

}  // namespace candor
