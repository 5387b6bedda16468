// Parameters of add's GPU kernel, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// clang-format off
struct AddGpuParams {
  CANDOR_GPU_POINTER(float) a;
  CANDOR_GPU_POINTER(float) b;
  CANDOR_GPU_POINTER(float) y;  // may be a or b
  uint32_t stride;  // of all three
  uint32_t width;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
