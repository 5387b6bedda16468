// Parameters of rms_norm's GPU kernel, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// clang-format off
struct RmsNormGpuParams {
  CANDOR_GPU_POINTER(float) x;  // [rows, x_stride]
  CANDOR_GPU_POINTER(float) w;  // [width]; 0: no weight
  CANDOR_GPU_POINTER(float) y;  // [rows, y_stride]; may be x
  uint32_t x_stride;
  uint32_t y_stride;
  uint32_t width;
  float eps;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
