// The Vulkan backend in a build without it.
#include "device/device.h"

namespace candor {

Result<std::vector<DeviceInfo>> ListVulkanDevices() {
  return UnavailableError("device vulkan: this build has no Vulkan backend; use -d cpu");
}

}  // namespace candor
