// Devices: what a model can run on, how one is named on a command line, and how one is chosen. The device asked for is
// the device used, or an error; `auto` never picks a software adapter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace candor {

enum class DeviceKind { kCpu, kVulkan, kCuda };
std::string_view DeviceKindName(DeviceKind kind);  // "cpu", "vulkan", "cuda"

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  std::string name;           // "AMD EPYC 7B13"
  uint64_t memory_total = 0;  // bytes
  uint64_t memory_available = 0;
  std::vector<std::string> features;  // "avx2", "f16c", …
  bool software = false;              // a GPU API on the CPU
};

// "auto", "cpu", "vulkan[:N|uuid|name]", "cuda[:N]".
struct DeviceSelector {
  bool automatic = true;
  DeviceKind kind = DeviceKind::kCpu;
  std::string detail;
};
Result<DeviceSelector> ParseDeviceSelector(std::string_view text);  // InvalidArgument lists the forms

// The devices of one API. Unavailable, with the reason, when the API is not built in or not there.
Result<std::vector<DeviceInfo>> ListCpuDevices();
Result<std::vector<DeviceInfo>> ListVulkanDevices();
Result<std::vector<DeviceInfo>> ListCudaDevices();

struct ChosenDevice {
  DeviceInfo info;
  std::string reason;  // why `auto` chose it; empty when it was named
};
Result<ChosenDevice> ChooseDevice(const DeviceSelector& selector, bool allow_software_adapter);

}  // namespace candor
