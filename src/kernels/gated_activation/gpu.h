// Launch of gated_activation on a GPU.
#pragma once

#include "kernels/gated_activation/gated_activation.h"
#include "kernels/gated_activation/gpu_params.h"
#include "kernels/lib/gpu_launch.h"

namespace candor {

GpuLaunch GpuGatedActivation(const GatedActivationGpuParams& params, uint32_t rows, Activation activation);

}  // namespace candor
