// The processor as a device.
#include "device/device.h"
#include "platform/cpu_features.h"
#include "platform/memory.h"

namespace candor {

std::vector<DeviceInfo> ListCpuDevices() {
  DeviceInfo info;
  info.kind = DeviceKind::kCpu;
  info.name = CpuModelName();
  const MemoryInfo memory = ReadMemoryInfo();
  info.memory_total = memory.total;
  info.memory_available = memory.available;
  for (const std::string_view feature : CpuFeatureNames()) info.features.emplace_back(feature);
  info.verdict.state = ProbeVerdict::State::kPassed;
  return {info};
}

}  // namespace candor
