#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "device/device.h"
#include "platform/cpu_features.h"

namespace candor::cli {
namespace {

struct Api {
  DeviceKind kind;
  Result<std::vector<DeviceInfo>> devices;
};

std::string Identifier(const DeviceInfo& device) {
  const std::string_view kind = DeviceKindName(device.kind);
  return device.kind == DeviceKind::kCpu ? std::string(kind) : fmt::format("{}:{}", kind, device.index);
}

Json DeviceToJson(const DeviceInfo& device) {
  Json json = {{"id", Identifier(device)},
               {"kind", DeviceKindName(device.kind)},
               {"name", device.name},
               {"memory_total", device.memory_total},
               {"memory_available", device.memory_available},
               {"software", device.software},
               {"features", device.features}};
  if (device.kind != DeviceKind::kCpu) return json;
  json["cores"] = CpuCoreCount();
  json["isa"] = CpuIsaName(BestCpuIsa());
  for (const CpuIsa isa : kAllCpuIsas) json["isa_levels"][std::string(CpuIsaName(isa))] = CpuSupports(isa);
  return json;
}

Json ToJson(const std::vector<Api>& apis) {
  Json json = {{"devices", Json::array()}, {"unavailable", Json::array()}};
  for (const Api& api : apis) {
    if (!api.devices.ok()) {
      json["unavailable"].push_back({{"kind", DeviceKindName(api.kind)}, {"reason", api.devices.status().message()}});
      continue;
    }
    for (const DeviceInfo& device : *api.devices) json["devices"].push_back(DeviceToJson(device));
  }
  return json;
}

std::string Join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string CpuText() {
  std::string levels;
  for (const CpuIsa isa : kAllCpuIsas)
    levels += fmt::format(" {}{}", CpuIsaName(isa), CpuSupports(isa) ? "" : " (cannot run here)");
  return fmt::format("          cores {}; kernels:{}; best: {}\n", CpuCoreCount(), levels, CpuIsaName(BestCpuIsa()));
}

std::string ToText(const std::vector<Api>& apis) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  std::string text;
  for (const Api& api : apis) {
    if (!api.devices.ok()) {
      text += fmt::format("{:<9} not available: {}\n", DeviceKindName(api.kind), api.devices.status().message());
      continue;
    }
    for (const DeviceInfo& device : *api.devices) {
      text += fmt::format("{:<9} {}{}, {:.1f} GiB of memory, {:.1f} GiB available\n", Identifier(device), device.name,
                          device.software ? " (software)" : "", static_cast<double>(device.memory_total) / kGiB,
                          static_cast<double>(device.memory_available) / kGiB);
      if (device.kind == DeviceKind::kCpu) text += CpuText();
      if (!device.features.empty()) text += fmt::format("          features: {}\n", Join(device.features));
    }
  }
  return text;
}

Outcome Devices(bool json) {
  std::vector<Api> apis;
  apis.push_back({DeviceKind::kCpu, ListCpuDevices()});
  apis.push_back({DeviceKind::kVulkan, ListVulkanDevices()});
  apis.push_back({DeviceKind::kCuda, ListCudaDevices()});
  return json ? PrintJson(ToJson(apis)) : PrintText(ToText(apis));
}

}  // namespace

CommandBody AddDevicesCommand(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  AddJson(app, *json);
  app.footer(
      "Examples:\n"
      "  candor devices\n"
      "  candor devices --json\n");
  return [json] { return Devices(*json); };
}

}  // namespace candor::cli
