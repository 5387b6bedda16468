// The CUDA backend in a build without it.
#include "device/device.h"

namespace candor {

Result<std::vector<DeviceInfo>> ListCudaDevices() {
  return UnavailableError("device cuda: this build has no CUDA backend; use -d cpu");
}

}  // namespace candor
