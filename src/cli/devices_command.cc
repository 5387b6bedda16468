#include <fmt/ranges.h>

#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "device/device.h"
#include "platform/cpu_features.h"
#include "platform/environment.h"
#include "probe/device_json.h"
#include "probe/probe_devices.h"

namespace candor::cli {
namespace {

struct DevicesFlags {
  bool json = false;
  bool retry_probe = false;
};

Json ToJson(const DeviceInfo& device) {
  Json json = DeviceToJson(device);
  if (device.kind != DeviceKind::kCpu) return json;
  json["cores"] = CpuCoreCount();
  json["isa"] = CpuIsaName(BestCpuIsa());
  for (const CpuIsa isa : kAllCpuIsas) json["isa_levels"][std::string(CpuIsaName(isa))] = CpuSupports(isa);
  return json;
}

Json ToJson(const ProbedDevices& probed, const ChosenDevice& automatic) {
  Json json = {{"devices", Json::array()}, {"unavailable", Json::array()}, {"diagnosis", Json::array()}};
  for (const DeviceInfo& device : probed.inventory.devices) json["devices"].push_back(ToJson(device));
  for (const auto& absence : probed.inventory.absent) {
    json["unavailable"].push_back({{"kind", DeviceKindName(absence.kind)}, {"reason", absence.reason}});
  }
  for (const Finding& finding : probed.findings) {
    json["diagnosis"].push_back(
        {{"id", finding.id}, {"kind", DeviceKindName(finding.kind)}, {"message", finding.message}});
  }
  json["notes"] = probed.notes;
  json["auto"] = {{"id", DeviceId(automatic.info)}, {"reason", automatic.reason}};
  return json;
}

std::string CpuText() {
  std::string levels;
  for (const CpuIsa isa : kAllCpuIsas)
    levels += fmt::format(" {}{}", CpuIsaName(isa), CpuSupports(isa) ? "" : " (cannot run here)");
  return fmt::format("          cores {}; kernels:{}; best: {}\n", CpuCoreCount(), levels, CpuIsaName(BestCpuIsa()));
}

std::string VerdictText(const ProbeVerdict& verdict) {
  std::string text = fmt::format("          probe: {}", VerdictName(verdict.state));
  if (!verdict.phase.empty()) text += fmt::format(" in the phase {}", verdict.phase);
  if (verdict.cached) text += " (kept from an earlier probe)";
  if (!verdict.message.empty()) text += ": " + verdict.message;
  return text + "\n";
}

std::string GpuText(const DeviceInfo& device) {
  const GpuIdentity& gpu = device.gpu;
  const std::string api = device.kind == DeviceKind::kCuda
                              ? fmt::format("CUDA {}, compute capability {}", gpu.api_version, gpu.compute_capability)
                              : fmt::format("Vulkan {}, driver {} {} {}", gpu.api_version, gpu.driver_name,
                                            gpu.driver_version, gpu.driver_info);
  std::string text = fmt::format("          {}; {}, subgroup {}\n", api, gpu.device_type, gpu.subgroup_size);
  text += fmt::format("          uuid {}{}{}, vendor 0x{:04x}, device 0x{:04x}\n", gpu.uuid.empty() ? "none" : gpu.uuid,
                      gpu.pci.empty() ? "" : ", pci ", gpu.pci, gpu.vendor_id, gpu.device_id);
  if (device.software) text += fmt::format("          software adapter: {}\n", device.software_reason);
  return text + VerdictText(device.verdict);
}

std::string DeviceText(const DeviceInfo& device) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  std::string text = fmt::format("{:<9} {}{}, {:.1f} GiB of memory", DeviceId(device), device.name,
                                 device.software ? " (software)" : "", static_cast<double>(device.memory_total) / kGiB);
  if (device.memory_available != 0)
    text += fmt::format(", {:.1f} GiB available", static_cast<double>(device.memory_available) / kGiB);
  text += "\n" + (device.kind == DeviceKind::kCpu ? CpuText() : GpuText(device));
  if (!device.features.empty()) text += fmt::format("          features: {}\n", fmt::join(device.features, " "));
  return text;
}

std::string ToText(const ProbedDevices& probed, const ChosenDevice& automatic) {
  std::string text;
  for (const DeviceInfo& device : probed.inventory.devices) text += DeviceText(device);
  for (const auto& absence : probed.inventory.absent) {
    text += fmt::format("{:<9} not available: {}\n", DeviceKindName(absence.kind), absence.reason);
  }
  if (!probed.findings.empty()) text += "diagnosis (docs/devices.md explains each):\n";
  for (const Finding& finding : probed.findings) {
    text += fmt::format("  {:<4} {:<7} {}\n", finding.id, DeviceKindName(finding.kind), finding.message);
  }
  for (const std::string& note : probed.notes) text += fmt::format("note: {}\n", note);
  return text + fmt::format("auto picks {} ({})\n", DeviceId(automatic.info), automatic.reason);
}

Outcome Devices(const DevicesFlags& flags) {
  ProbeOptions options;
  options.environment = ReadEnvironment();
  options.retry = flags.retry_probe;
  const ProbedDevices probed = ProbeDevices(options);
  const auto automatic = ChooseDevice(DeviceSelector{}, probed.inventory, {});
  if (!automatic.ok()) return RunFailure(automatic.status());
  return flags.json ? PrintJson(ToJson(probed, *automatic)) : PrintText(ToText(probed, *automatic));
}

}  // namespace

CommandBody AddDevicesCommand(CLI::App& app) {
  auto flags = std::make_shared<DevicesFlags>();
  AddJson(app, flags->json);
  AddFlag(app, "--retry-probe", flags->retry_probe,
          "Probe anew, also drivers that crashed or hung and are left alone since");
  app.footer(
      "Examples:\n"
      "  candor devices\n"
      "  candor devices --json\n"
      "  candor devices --retry-probe                    after a driver was repaired\n");
  return [flags] { return Devices(*flags); };
}

}  // namespace candor::cli
