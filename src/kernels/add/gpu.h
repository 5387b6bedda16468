// Launch of add on a GPU.
#pragma once

#include "kernels/add/gpu_params.h"
#include "kernels/lib/gpu_launch.h"

namespace candor {

GpuLaunch GpuAdd(const AddGpuParams& params, uint32_t rows);

}  // namespace candor
