// Launch of rope on a GPU.
#pragma once

#include "kernels/lib/gpu_launch.h"
#include "kernels/rope/gpu_params.h"
#include "kernels/rope/rope.h"

namespace candor {

GpuLaunch GpuRope(const RopeGpuParams& params, uint32_t rows, RopePairing pairing);

}  // namespace candor
