// The choice of a device: never elsewhere than asked, and every refusal says what exists.
#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "device/device.h"

namespace candor {
namespace {

using State = ProbeVerdict::State;
using Devices = std::vector<DeviceInfo>;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// A UUID as people paste it: nvidia-smi writes "GPU-" or "MIG-" before it, and dashes may be missing.
std::string BareUuid(std::string_view text) {
  std::string bare = Lower(text);
  if (bare.starts_with("gpu-") || bare.starts_with("mig-")) bare.erase(0, 4);
  std::erase(bare, '-');
  return bare;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

template <typename Predicate>
Devices Filter(const Devices& devices, Predicate keep) {
  Devices kept;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(kept), keep);
  return kept;
}

// "vulkan:0 (NVIDIA H200), vulkan:1 (llvmpipe, software)"; with UUIDs where names alone do not tell them apart.
std::string NamesOf(const Devices& devices, bool with_uuid) {
  std::string names;
  for (const DeviceInfo& info : devices) {
    names +=
        fmt::format("{}{} ({}{}{})", names.empty() ? "" : ", ", DeviceId(info), info.name,
                    with_uuid && !info.gpu.uuid.empty() ? ", " + info.gpu.uuid : "", info.software ? ", software" : "");
  }
  return names;
}

// The narrowest reading of `detail` that fits any device.
Devices Matching(const Devices& devices, const std::string& detail) {
  if (detail.empty()) return devices;
  if (IsNumber(detail)) {
    // Leading zeros and numbers of any length are compared as text.
    const std::string number = detail.substr(std::min(detail.find_first_not_of('0'), detail.size() - 1));
    Devices by_index = Filter(devices, [&](const DeviceInfo& info) { return std::to_string(info.index) == number; });
    // A short number is an index and nothing else: "vulkan:3" must not become the device whose name has a 3 in it.
    if (!by_index.empty() || detail.size() < 32) return by_index;
  }
  Devices by_uuid = Filter(devices, [&](const DeviceInfo& info) {
    return !info.gpu.uuid.empty() && BareUuid(info.gpu.uuid) == BareUuid(detail);
  });
  if (!by_uuid.empty()) return by_uuid;
  const std::string name = Lower(detail);
  Devices by_name = Filter(devices, [&](const DeviceInfo& info) { return Lower(info.name) == name; });
  if (!by_name.empty()) return by_name;
  return Filter(devices, [&](const DeviceInfo& info) { return Lower(info.name).find(name) != std::string::npos; });
}

Status RefuseSoftware(const DeviceInfo& info) {
  return UnavailableError(
      "device {}: expected hardware, got the software adapter '{}' ({}); install the GPU's driver (`candor devices` "
      "says what is missing), or allow it with --allow-software-adapter",
      DeviceId(info), info.name, info.software_reason);
}

// Ok for a device that a model may run on.
Status CheckUsable(const DeviceInfo& info, const ChoicePolicy& policy) {
  if (info.software && !policy.allow_software_adapter) return RefuseSoftware(info);
  if (info.verdict.state != State::kPassed) {
    return UnavailableError(
        "device {} ({}): expected a device that passed its probe, got one that {}: {}", DeviceId(info), info.name,
        info.verdict.state == State::kNotProbed ? "was not probed" : VerdictName(info.verdict.state),
        info.verdict.message.empty() ? "see `candor devices`" : info.verdict.message);
  }
  if (std::find(policy.runnable.begin(), policy.runnable.end(), info.kind) == policy.runnable.end()) {
    return UnavailableError(
        "device {} ({}): it is there and passed its probe, but this build has no {} kernels; configure with "
        "CANDOR_GPU=ON, or use -d cpu",
        DeviceId(info), info.name, DeviceKindName(info.kind));
  }
  return OkStatus();
}

int TypeRank(const DeviceInfo& info) {
  if (info.software) return 3;
  if (info.gpu.device_type == "discrete") return 0;
  return info.gpu.device_type == "integrated" ? 2 : 1;
}

// Hardware before software, discrete before integrated, then the one with more memory, then the order of the driver.
void BestFirst(Devices& devices) {
  std::stable_sort(devices.begin(), devices.end(), [](const DeviceInfo& a, const DeviceInfo& b) {
    if (TypeRank(a) != TypeRank(b)) return TypeRank(a) < TypeRank(b);
    return a.memory_total > b.memory_total;
  });
}

Status NothingOf(DeviceKind kind, const DeviceInventory& inventory) {
  for (const auto& absence : inventory.absent) {
    if (absence.kind == kind) return UnavailableError("device {}: {}", DeviceKindName(kind), absence.reason);
  }
  return UnavailableError("device {}: expected a device, got none; see `candor devices`", DeviceKindName(kind));
}

// `-d vulkan`: the best one that is usable, else why the best one is not.
Result<ChosenDevice> ChooseBest(Devices devices, const ChoicePolicy& policy) {
  BestFirst(devices);
  for (const DeviceInfo& info : devices) {
    if (CheckUsable(info, policy).ok()) return ChosenDevice{info, ""};
  }
  return CheckUsable(devices.front(), policy);
}

Result<ChosenDevice> ChooseNamed(const DeviceSelector& selector, const DeviceInventory& inventory,
                                 const ChoicePolicy& policy) {
  const std::string_view kind = DeviceKindName(selector.kind);
  const Devices devices = Filter(inventory.devices, [&](const DeviceInfo& info) { return info.kind == selector.kind; });
  if (devices.empty()) return NothingOf(selector.kind, inventory);
  if (selector.detail.empty()) return ChooseBest(devices, policy);
  const Devices fitting = Matching(devices, selector.detail);
  if (fitting.empty()) {
    return UnavailableError("device {}: expected one of {}, got '{}'; name one of them", kind, NamesOf(devices, false),
                            Printable(selector.detail));
  }
  if (fitting.size() > 1) {
    return UnavailableError(
        "device {}: expected a selector of one device, got '{}', which fits {}; use the number or the UUID", kind,
        Printable(selector.detail), NamesOf(fitting, true));
  }
  CANDOR_RETURN_IF_ERROR(CheckUsable(fitting.front(), policy));
  return ChosenDevice{fitting.front(), ""};
}

Result<ChosenDevice> ChooseAutomatically(const DeviceInventory& inventory, ChoicePolicy policy) {
  policy.allow_software_adapter = false;
  std::string passed_over;
  for (const DeviceKind kind : {DeviceKind::kCuda, DeviceKind::kVulkan}) {
    const auto chosen = ChooseNamed({false, kind, ""}, inventory, policy);
    if (chosen.ok()) return ChosenDevice{chosen->info, fmt::format("auto: the best {} device", DeviceKindName(kind))};
    passed_over += fmt::format("{}{}", passed_over.empty() ? "" : "; ", chosen.status().message());
  }
  CANDOR_ASSIGN_OR_RETURN(ChosenDevice cpu, ChooseNamed({false, DeviceKind::kCpu, ""}, inventory, policy));
  cpu.reason = fmt::format("auto: the cpu, since no GPU is usable ({})", passed_over);
  return cpu;
}

}  // namespace

Result<ChosenDevice> ChooseDevice(const DeviceSelector& selector, const DeviceInventory& inventory,
                                  const ChoicePolicy& policy) {
  return selector.automatic ? ChooseAutomatically(inventory, policy) : ChooseNamed(selector, inventory, policy);
}

Result<ChosenDevice> ChooseDevice(const DeviceSelector& selector, bool allow_software_adapter) {
  DeviceInventory inventory{ListCpuDevices(), {}};
  for (const DeviceKind kind : {DeviceKind::kVulkan, DeviceKind::kCuda}) {
    inventory.absent.push_back(
        {kind, "a GPU is chosen from what a probe has found, and none was asked; probe first, or use -d cpu"});
  }
  return ChooseDevice(selector, inventory, {.allow_software_adapter = allow_software_adapter});
}

}  // namespace candor
