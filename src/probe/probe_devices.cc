#include "probe/probe_devices.h"

#include <sys/stat.h>

#include <algorithm>

#include "platform/paths.h"
#include "probe/probe_cache.h"

namespace candor {
namespace {

using State = ProbeVerdict::State;

constexpr const char* kRetry =
    "; it is left alone until the driver changes or a week has passed, `candor devices --retry-probe` tries it again";

bool IsQuarantined(const ProbeVerdict& verdict) {
  return verdict.state == State::kCrashed || verdict.state == State::kHung;
}

// The build that a verdict is of: the version, and the very file of the program that gave it.
std::string BuildOf(const std::string& program) {
  struct stat info = {};
  if (stat(program.c_str(), &info) != 0) return CANDOR_VERSION;
  return fmt::format("{} {} {}.{}", CANDOR_VERSION, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Same adapter, same driver: a verdict on one holds for the other.
bool SameAdapter(const DeviceInfo& a, const DeviceInfo& b) {
  return a.gpu.uuid == b.gpu.uuid && a.name == b.name && a.gpu.driver_version == b.gpu.driver_version &&
         a.gpu.driver_info == b.gpu.driver_info && a.gpu.api_version == b.gpu.api_version && a.gpu.pci == b.gpu.pci;
}

const DeviceInfo* FindQuarantined(const std::optional<ProbeReport>& kept, const DeviceInfo& device) {
  if (!kept) return nullptr;
  const auto found = std::find_if(kept->devices.begin(), kept->devices.end(), [&](const DeviceInfo& row) {
    return SameAdapter(row, device) && row.index == device.index && IsQuarantined(row.verdict);
  });
  return found == kept->devices.end() ? nullptr : &*found;
}

class ApiProbe {
 public:
  ApiProbe(const ProbeOptions& options, DeviceKind kind, const ProbeCache& cache, ProbedDevices& all)
      : options_(options), kind_(kind), cache_(cache), all_(all) {}

  void Run(DriverFacts& facts) {
    const std::optional<ProbeReport> kept = options_.retry ? std::nullopt : cache_.Load(kind_);
    if (kept && (options_.cached_is_enough || IsQuarantined(kept->listing.verdict))) {
      report_ = *kept;
    } else {
      Probe(facts, kept);
    }
    Diagnose(facts);
    Publish();
  }

 private:
  void Probe(const DriverFacts& facts, const std::optional<ProbeReport>& kept) {
    report_.listing = ListWithProbe(options_.settings, kind_);
    if (IsQuarantined(report_.listing.verdict)) NameCulprits(facts);
    if (report_.listing.verdict.state == State::kPassed) report_.devices = report_.listing.devices;
    for (DeviceInfo& device : report_.devices) {
      if (const DeviceInfo* known = FindQuarantined(kept, device)) {
        device.verdict = known->verdict;
        continue;
      }
      const ProbeResult tried = TryWithProbe(options_.settings, device);
      device.verdict = tried.verdict;
      if (tried.memory_available) device.memory_available = *tried.memory_available;
    }
    const Status saved = cache_.Save(kind_, report_);
    if (!saved.ok()) all_.notes.push_back(saved.message());
  }

  // One driver among several took the listing down: each is listed alone to find out which.
  void NameCulprits(const DriverFacts& facts) {
    if (kind_ != DeviceKind::kVulkan || facts.manifests.size() < 2) return;
    std::string culprits;
    for (const ManifestFact& manifest : facts.manifests) {
      if (manifest.disabled || manifest.library_path.empty()) continue;
      ProbeSettings alone = options_.settings;
      alone.variables.emplace_back("VK_DRIVER_FILES", manifest.path);
      alone.variables.emplace_back("VK_ICD_FILENAMES", "");
      alone.variables.emplace_back("VK_ADD_DRIVER_FILES", "");
      if (IsQuarantined(ListWithProbe(alone, kind_).verdict))
        culprits += (culprits.empty() ? "" : ", ") + manifest.path;
    }
    if (!culprits.empty()) {
      report_.listing.verdict.message +=
          fmt::format("; it is the driver of {}: update it, or hide it with VK_LOADER_DRIVERS_DISABLE", culprits);
    }
  }

  void Diagnose(DriverFacts& facts) {
    const bool vulkan = kind_ == DeviceKind::kVulkan;
    const auto& devices = report_.listing.devices;
    const bool hardware =
        std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& info) { return !info.software; });
    if (vulkan && !hardware && !IsQuarantined(report_.listing.verdict)) {
      TryManifestLibraries(facts, [&](const std::string& library) { return LibraryError(options_.settings, library); });
    }
    findings_ = vulkan ? DiagnoseVulkan(facts, report_.listing) : DiagnoseCuda(facts, report_.listing);
    all_.findings.insert(all_.findings.end(), findings_.begin(), findings_.end());
  }

  void Publish() {
    for (DeviceInfo& device : report_.devices) {
      if (IsQuarantined(device.verdict) && device.verdict.message.find(kRetry) == std::string::npos)
        device.verdict.message += kRetry;
      all_.inventory.devices.push_back(device);
    }
    if (report_.devices.empty()) all_.inventory.absent.push_back({kind_, AbsenceReason()});
  }

  std::string AbsenceReason() const {
    std::string reason = report_.listing.verdict.message;
    if (IsQuarantined(report_.listing.verdict)) reason += kRetry;
    if (reason.empty()) reason = "the driver is there and lists no device";
    for (const Finding& finding : findings_) {
      if (finding.message != reason) reason += fmt::format("; {}", finding.message);
    }
    if (findings_.empty()) reason += "; install the GPU's driver if there is a GPU, or use -d cpu";
    return reason;
  }

  const ProbeOptions& options_;
  DeviceKind kind_;
  const ProbeCache& cache_;
  ProbedDevices& all_;
  ProbeReport report_;
  std::vector<Finding> findings_;
};

// Variables for the child belong to the environment that is looked at.
std::string VariablesKey(const ProbeSettings& settings) {
  std::string key;
  for (const auto& [name, value] : settings.variables) key += fmt::format(" {}={}", name, value);
  return key;
}

}  // namespace

ProbedDevices ProbeDevices(const ProbeOptions& given) {
  ProbedDevices all;
  all.inventory.devices = ListCpuDevices();
  ProbeOptions options = given;
  if (options.settings.program.empty()) {
    const auto program = FindProbeProgram();
    if (!program.ok()) {
      for (const DeviceKind kind : options.kinds) all.inventory.absent.push_back({kind, program.status().message()});
      return all;
    }
    options.settings.program = *program;
  }
  const FactSources sources{options.root, options.environment, {}};
  DriverFacts facts = GatherDriverFacts(sources);
  const auto folder = CacheDirectory(options.environment);
  const ProbeCache cache(folder.ok() ? *folder : "",
                         fmt::format("{} {}{}", BuildOf(options.settings.program), DriverFingerprint(facts, sources),
                                     VariablesKey(options.settings)));
  for (const DeviceKind kind : options.kinds) ApiProbe(options, kind, cache, all).Run(facts);
  return all;
}

}  // namespace candor
