// Parameters of select_rows' GPU kernel, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// clang-format off
struct SelectRowsGpuParams {
  CANDOR_GPU_POINTER(float) x;        // [rows, x_stride]
  CANDOR_GPU_POINTER(int32_t) index;  // [selected rows]; negative: a row of zeros
  CANDOR_GPU_POINTER(float) y;        // [selected rows, y_stride]
  uint32_t x_stride;
  uint32_t y_stride;
  uint32_t width;
  uint32_t unused;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
