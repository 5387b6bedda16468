#include "probe/diagnosis.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace candor {
namespace {

using State = ProbeVerdict::State;

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool IsNvidia(const ManifestFact& manifest) {
  return Has(manifest.path, "nvidia") || Has(manifest.library, "nvidia") || Has(manifest.library, "GLX_nvidia");
}

bool Usable(const ManifestFact& manifest) {
  return manifest.problem.empty() && !manifest.disabled && !manifest.library_path.empty() &&
         manifest.load_error.empty();
}

bool HasHardware(const ProbeResult& listing) {
  return std::any_of(listing.devices.begin(), listing.devices.end(),
                     [](const DeviceInfo& info) { return !info.software; });
}

bool HasNvidiaGpu(const DriverFacts& facts) {
  const auto& vendors = facts.gpu_vendors;
  return !facts.nvidia_kernel_version.empty() || std::find(vendors.begin(), vendors.end(), "nvidia") != vendors.end();
}

std::string LoaderPackage(const DriverFacts& facts) {
  if (Has(facts.distribution, "debian")) return "apt-get install libvulkan1";
  if (Has(facts.distribution, "fedora") || Has(facts.distribution, "rhel")) return "dnf install vulkan-loader";
  return "install the package with libvulkan.so.1 (libvulkan1, vulkan-loader)";
}

// The packages with the graphics half of NVIDIA's driver, in the version of the loaded kernel module.
std::string NvidiaGraphicsPackages(const DriverFacts& facts) {
  const std::string& version = facts.nvidia_kernel_version;
  const std::string branch = version.substr(0, version.find('.'));
  if (Has(facts.distribution, "ubuntu")) {
    return fmt::format(
        "libnvidia-gl-{0} (libnvidia-gl-{0}-server for a server driver), libnvidia-common-{0} and libegl1 of version "
        "{1}",
        branch, version);
  }
  if (Has(facts.distribution, "debian")) {
    return fmt::format(
        "nvidia-vulkan-icd, nvidia-driver-libs and libegl1 of version {} (from NVIDIA's own archive: libnvidia-gl-{})",
        version, branch);
  }
  if (Has(facts.distribution, "fedora") || Has(facts.distribution, "rhel"))
    return fmt::format("nvidia-driver-libs and libglvnd-egl of version {}", version);
  return fmt::format(
      "the graphics libraries of the NVIDIA driver (nvidia_icd.json, libGLX_nvidia.so.0; libnvidia-gl-{}) of version "
      "{}",
      branch, version);
}

void AddVariable(const DriverFacts& facts, std::vector<Finding>& findings) {
  for (const std::string& path : facts.override_gone) {
    findings.push_back(
        {"F2", DeviceKind::kVulkan,
         fmt::format("{} names '{}', which does not exist, and hides all other drivers; correct or unset it",
                     facts.override_variable, path)});
  }
}

void AddManifests(const DriverFacts& facts, std::vector<Finding>& findings) {
  if (facts.manifests.empty() && facts.override_gone.empty()) {
    findings.push_back(
        {"F2", DeviceKind::kVulkan,
         fmt::format("no Vulkan driver is installed: no manifest in {}; install the GPU's driver (mesa-vulkan-drivers "
                     "for AMD and Intel, libnvidia-gl for NVIDIA)",
                     fmt::join(facts.searched, ", "))});
  }
  for (const ManifestFact& manifest : facts.manifests) {
    if (!manifest.problem.empty()) {
      findings.push_back({"F2", DeviceKind::kVulkan,
                          fmt::format("{}: the manifest of a Vulkan driver is broken: {}; install that driver again",
                                      manifest.path, manifest.problem)});
    } else if (manifest.disabled) {
      findings.push_back(
          {"F2", DeviceKind::kVulkan,
           fmt::format("{}: this driver is turned off by VK_LOADER_DRIVERS_SELECT or VK_LOADER_DRIVERS_DISABLE",
                       manifest.path)});
    } else if (manifest.library_path.empty() || !manifest.load_error.empty()) {
      findings.push_back(
          {"F4", DeviceKind::kVulkan,
           fmt::format("{}: its library {} cannot be loaded: {}; install what is missing", manifest.path,
                       manifest.library, manifest.load_error.empty() ? "there is no such file" : manifest.load_error)});
    }
  }
}

// NVIDIA's kernel module runs, and nothing speaks Vulkan for it: a container that was not given the graphics libraries
// (F10), or a driver installed for compute alone (F3).
void AddComputeOnly(const DriverFacts& facts, std::vector<Finding>& findings) {
  if (facts.nvidia_kernel_version.empty()) return;
  const auto works = [](const ManifestFact& manifest) { return IsNvidia(manifest) && Usable(manifest); };
  if (std::any_of(facts.manifests.begin(), facts.manifests.end(), works)) return;
  const std::string& capabilities = facts.nvidia_capabilities;
  const bool granted = Has(capabilities, "graphics") || Has(capabilities, "all");
  if ((facts.container || !capabilities.empty()) && !granted) {
    findings.push_back(
        {"F10", DeviceKind::kVulkan,
         fmt::format(
             "this container was not given the graphics half of the NVIDIA driver {}: NVIDIA_DRIVER_CAPABILITIES "
             "is '{}'; start it with NVIDIA_DRIVER_CAPABILITIES=graphics,compute,utility",
             facts.nvidia_kernel_version, capabilities)});
    return;
  }
  findings.push_back(
      {"F3", DeviceKind::kVulkan,
       fmt::format("the NVIDIA driver {} is installed for compute alone, so its GPUs have CUDA and no Vulkan; "
                   "install {}, or use -d cuda",
                   facts.nvidia_kernel_version, NvidiaGraphicsPackages(facts))});
}

void AddMismatch(const DriverFacts& facts, DeviceKind kind, std::vector<Finding>& findings) {
  const bool vulkan = kind == DeviceKind::kVulkan;
  const std::string& library = vulkan ? facts.nvidia_graphics_library : facts.cuda_library;
  const std::string& version = vulkan ? facts.nvidia_graphics_version : facts.cuda_library_version;
  if (facts.nvidia_kernel_version.empty() || version.empty() || version == facts.nvidia_kernel_version) return;
  findings.push_back(
      {"F5", kind,
       fmt::format(
           "{} is of version {}, the loaded NVIDIA kernel module of version {}: they must be the same; restart the "
           "machine after a driver update, or install the matching version",
           library, version, facts.nvidia_kernel_version)});
}

void AddPermissions(const DriverFacts& facts, DeviceKind kind, std::vector<Finding>& findings) {
  for (const DeviceFileFact& file : facts.device_files) {
    const bool nvidia = Has(file.path, "nvidia");
    if ((file.error != EACCES && file.error != EPERM) || (kind == DeviceKind::kCuda && !nvidia)) continue;
    findings.push_back(
        {"F9", kind,
         fmt::format("{} may not be used: {}; {}", file.path, std::generic_category().message(file.error),
                     nvidia ? "let this user (or container) open it for reading and writing"
                            : "add this user to the group render (usermod -aG render USER) and log in again")});
  }
}

void AddMig(const DriverFacts& facts, std::vector<Finding>& findings) {
  if (!facts.mig) return;
  findings.push_back({"F25", DeviceKind::kVulkan,
                      "a GPU is cut into MIG slices, which speak CUDA and no Vulkan; use -d cuda, or turn MIG off "
                      "(nvidia-smi -mig 0)"});
}

void AddDevices(const ProbeResult& listing, DeviceKind kind, std::vector<Finding>& findings) {
  for (const DeviceInfo& info : listing.devices) {
    if (info.software) continue;
    if (!info.gpu.missing.empty()) {
      findings.push_back({"F7", kind,
                          fmt::format("{} ({}): it lacks {}; update its driver, or use another device", DeviceId(info),
                                      info.name, fmt::join(info.gpu.missing, ", "))});
      continue;
    }
    const char* half = kind == DeviceKind::kVulkan ? "shaderFloat16" : "float16";
    if (std::find(info.features.begin(), info.features.end(), half) == info.features.end()) {
      findings.push_back({"F8", kind,
                          fmt::format("{} ({}): it has no 16-bit floats; kernels use 32-bit floats there",
                                      DeviceId(info), info.name)});
    }
  }
}

void AddOnlySoftware(const ProbeResult& listing, std::vector<Finding>& findings) {
  if (listing.devices.empty() || HasHardware(listing)) return;
  findings.push_back(
      {"F6", DeviceKind::kVulkan,
       fmt::format(
           "only software adapters were found ({}), which run on the CPU; install the GPU's driver, or allow them "
           "with --allow-software-adapter",
           listing.devices.front().name)});
}

}  // namespace

std::vector<Finding> DiagnoseVulkan(const DriverFacts& facts, const ProbeResult& listing) {
  std::vector<Finding> findings;
  if (listing.verdict.phase == "loader" && listing.code == StatusCode::kNotFound) {
    findings.push_back({"F1", DeviceKind::kVulkan,
                        fmt::format("there is no Vulkan loader (libvulkan.so.1); {}", LoaderPackage(facts))});
  } else if (listing.verdict.phase == "enumerate" && listing.code == StatusCode::kFailedPrecondition) {
    findings.push_back({"F7", DeviceKind::kVulkan, listing.verdict.message});
  }
  AddVariable(facts, findings);
  if (!HasHardware(listing)) {
    AddManifests(facts, findings);
    AddComputeOnly(facts, findings);
    AddMismatch(facts, DeviceKind::kVulkan, findings);
    AddPermissions(facts, DeviceKind::kVulkan, findings);
    AddMig(facts, findings);
    AddOnlySoftware(listing, findings);
  }
  AddDevices(listing, DeviceKind::kVulkan, findings);
  return findings;
}

std::vector<Finding> DiagnoseCuda(const DriverFacts& facts, const ProbeResult& listing) {
  std::vector<Finding> findings;
  if (listing.devices.empty() && HasNvidiaGpu(facts)) {
    if (facts.nvidia_kernel_version.empty()) {
      findings.push_back({"F3", DeviceKind::kCuda,
                          "there is an NVIDIA GPU, and its kernel module is not loaded; install NVIDIA's driver, or "
                          "load it (modprobe nvidia)"});
    } else if (listing.verdict.phase == "loader" && listing.code == StatusCode::kNotFound) {
      const std::string branch = facts.nvidia_kernel_version.substr(0, facts.nvidia_kernel_version.find('.'));
      const bool contained = facts.container || !facts.nvidia_capabilities.empty();
      findings.push_back(
          {contained ? "F10" : "F4", DeviceKind::kCuda,
           contained
               ? "this container was not given libcuda.so.1; start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
               : fmt::format("libcuda.so.1 is missing; install libcuda1 or libnvidia-compute-{} of version {}", branch,
                             facts.nvidia_kernel_version)});
    }
    AddMismatch(facts, DeviceKind::kCuda, findings);
    AddPermissions(facts, DeviceKind::kCuda, findings);
  }
  AddDevices(listing, DeviceKind::kCuda, findings);
  return findings;
}

void TryManifestLibraries(DriverFacts& facts, const std::function<std::string(const std::string& library)>& error_of) {
  for (ManifestFact& manifest : facts.manifests) {
    const bool bare = manifest.library.find('/') == std::string::npos;
    if (!manifest.problem.empty() || manifest.disabled || (manifest.library_path.empty() && !bare)) continue;
    // The linker knows more folders than are looked through here.
    const std::string library = manifest.library_path.empty() ? manifest.library : manifest.library_path;
    manifest.load_error = error_of(library);
    if (manifest.load_error.empty()) manifest.library_path = library;
  }
}

}  // namespace candor
