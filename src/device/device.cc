#include "device/device.h"

namespace candor {
namespace {

Result<std::vector<DeviceInfo>> ListDevices(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return ListCpuDevices();
    case DeviceKind::kVulkan:
      return ListVulkanDevices();
    case DeviceKind::kCuda:
      return ListCudaDevices();
  }
  return InternalError("device: unknown kind");
}

bool Matches(const DeviceInfo& info, const std::string& detail) {
  return detail.empty() || detail == std::to_string(info.index) || info.name.find(detail) != std::string::npos;
}

std::string NamesOf(const std::vector<DeviceInfo>& devices) {
  std::string names;
  for (const DeviceInfo& info : devices) {
    names += fmt::format("{}{}:{} ({})", names.empty() ? "" : ", ", DeviceKindName(info.kind), info.index, info.name);
  }
  return names;
}

Result<ChosenDevice> ChooseNamed(const DeviceSelector& selector, bool allow_software_adapter) {
  CANDOR_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> devices, ListDevices(selector.kind));
  for (const DeviceInfo& info : devices) {
    if (!Matches(info, selector.detail)) continue;
    if (info.software && !allow_software_adapter) {
      return UnavailableError(
          "device {}: '{}' is a software adapter; name a hardware device, or allow it with --allow-software-adapter",
          DeviceKindName(selector.kind), info.name);
    }
    return ChosenDevice{info, ""};
  }
  return UnavailableError("device {}: expected one of [{}], got '{}'; see `candor devices`",
                          DeviceKindName(selector.kind), NamesOf(devices), selector.detail);
}

}  // namespace

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

Result<ChosenDevice> ChooseDevice(const DeviceSelector& selector, bool allow_software_adapter) {
  if (!selector.automatic) return ChooseNamed(selector, allow_software_adapter);
  std::string passed_over;
  for (const DeviceKind kind : {DeviceKind::kCuda, DeviceKind::kVulkan}) {
    const Result<std::vector<DeviceInfo>> devices = ListDevices(kind);
    if (!devices.ok()) {
      passed_over += fmt::format("{}{}", passed_over.empty() ? "" : "; ", devices.status().message());
      continue;
    }
    for (const DeviceInfo& info : *devices) {
      if (!info.software) return ChosenDevice{info, fmt::format("auto: the first {} device", DeviceKindName(kind))};
    }
  }
  CANDOR_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> cpus, ListCpuDevices());
  return ChosenDevice{cpus.front(), fmt::format("auto: the cpu, since no GPU is usable ({})", passed_over)};
}

}  // namespace candor
