// Parameters and result of argmax's GPU kernels, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// What is known of a row of logits, or of a part of it.
struct ArgmaxResult {
  uint32_t index;      // of the greatest value; the lowest one among equals
  float greatest;      // NaNs are passed over
  float least;         // equal to greatest: all finite values are the same
  uint32_t nonfinite;  // how many values are NaN or infinite
};

// clang-format off
struct ArgmaxGpuParams {
  CANDOR_GPU_POINTER(float) x;             // [rows, x_stride]
  CANDOR_GPU_POINTER(ArgmaxResult) parts;  // [rows, splits]
  CANDOR_GPU_POINTER(ArgmaxResult) y;      // [rows]
  uint32_t x_stride;
  uint32_t width;
  uint32_t splits;
  uint32_t unused;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
