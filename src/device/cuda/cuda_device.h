// GpuDevice for CUDA, with the settings that only tests change.
#pragma once

#include <memory>

#include "device/cuda/cuda_context.h"

namespace candor {

Result<std::unique_ptr<GpuDevice>> OpenCudaDevice(const DeviceInfo& info, const CudaWorkSettings& settings);

}  // namespace candor
