// Launch of rms_norm on a GPU. A row has `groups` groups of params.width adjacent values.
#pragma once

#include "kernels/lib/gpu_launch.h"
#include "kernels/rms_norm/gpu_params.h"

namespace candor {

GpuLaunch GpuRmsNorm(const RmsNormGpuParams& params, uint32_t rows, uint32_t groups);

}  // namespace candor
