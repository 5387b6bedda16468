#include "cli/choose_device.h"

#include <algorithm>

#include "platform/environment.h"
#include "probe/probe_devices.h"

namespace candor::cli {

Result<ChosenDevice> ChooseForRun(const std::string& device, bool allow_software_adapter) {
  CANDOR_ASSIGN_OR_RETURN(const DeviceSelector selector, ParseDeviceSelector(device));
  ProbeOptions options;
  options.environment = ReadEnvironment();
  options.cached_is_enough = true;
  if (selector.automatic) {
    // Only what could be chosen is worth the time.
    const std::vector<DeviceKind> runnable = EngineKinds();
    std::erase_if(options.kinds,
                  [&](DeviceKind kind) { return std::find(runnable.begin(), runnable.end(), kind) == runnable.end(); });
  } else {
    options.kinds = {selector.kind};
  }
  std::erase(options.kinds, DeviceKind::kCpu);
  if (options.kinds.empty()) return ChooseDevice(selector, allow_software_adapter);
  const ProbedDevices probed = ProbeDevices(options);
  return ChooseDevice(selector, probed.inventory, {.allow_software_adapter = allow_software_adapter});
}

}  // namespace candor::cli
