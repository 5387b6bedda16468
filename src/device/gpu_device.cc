#include "device/gpu_device.h"

namespace candor {

Result<std::unique_ptr<GpuDevice>> OpenGpuDevice(const DeviceInfo& info) {
  switch (info.kind) {
    case DeviceKind::kVulkan:
      return OpenVulkanDevice(info);
    case DeviceKind::kCuda:
      return OpenCudaDevice(info);
    case DeviceKind::kCpu:
      break;
  }
  return InvalidArgumentError("device {}: expected a GPU, got the CPU", DeviceId(info));
}

}  // namespace candor
