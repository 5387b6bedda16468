// Launch of argmax on a GPU.
// params.parts has room for rows * params.splits results; the two launches run one after the other.
#pragma once

#include "kernels/argmax/gpu_params.h"
#include "kernels/lib/gpu_launch.h"

namespace candor {

// Parts that a row of `width` values is cut into, so that one row keeps a device busy.
uint32_t GpuArgmaxSplits(uint32_t width);
GpuLaunch GpuArgmaxParts(const ArgmaxGpuParams& params, uint32_t rows);
GpuLaunch GpuArgmaxRows(const ArgmaxGpuParams& params, uint32_t rows);

}  // namespace candor
