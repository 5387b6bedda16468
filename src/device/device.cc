#include "device/device.h"

namespace candor {

std::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kVulkan:
      return "vulkan";
    case DeviceKind::kCuda:
      return "cuda";
  }
  return "unknown";
}

std::string_view VerdictName(ProbeVerdict::State state) {
  switch (state) {
    case ProbeVerdict::State::kNotProbed:
      return "not probed";
    case ProbeVerdict::State::kPassed:
      return "passed";
    case ProbeVerdict::State::kFailed:
      return "failed";
    case ProbeVerdict::State::kCrashed:
      return "crashed";
    case ProbeVerdict::State::kHung:
      return "hung";
  }
  return "unknown";
}

std::string DeviceId(const DeviceInfo& info) {
  const std::string_view kind = DeviceKindName(info.kind);
  return info.kind == DeviceKind::kCpu ? std::string(kind) : fmt::format("{}:{}", kind, info.index);
}

std::vector<DeviceKind> EngineKinds() {
#ifdef CANDOR_WITH_GPU
  return {DeviceKind::kCpu, DeviceKind::kVulkan, DeviceKind::kCuda};
#else
  return {DeviceKind::kCpu};
#endif
}

Result<DeviceSelector> ParseDeviceSelector(std::string_view text) {
  if (text == "auto") return DeviceSelector{};
  const size_t colon = text.find(':');
  const std::string_view kind_name = text.substr(0, colon);
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kVulkan, DeviceKind::kCuda}) {
    if (kind_name != DeviceKindName(kind)) continue;
    if (colon != std::string_view::npos && text.size() == colon + 1) break;
    return DeviceSelector{false, kind, colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1))};
  }
  return InvalidArgumentError(
      "device: expected auto, cpu, vulkan[:N|uuid|name] or cuda[:N], got '{}'; `candor devices` lists what exists",
      text);
}

}  // namespace candor
