// add: y = a + b, elementwise (the residual connection where it can't ride in a matmul). y may be a or b.
#pragma once

#include <cstdint>

#include "platform/cpu_features.h"

namespace candor {

struct AddParams {
  const float* a = nullptr;
  const float* b = nullptr;
  float* y = nullptr;
  int64_t stride = 0;  // of all three
  int64_t width = 0;
};

using AddKernel = void (*)(const AddParams& params, int64_t row_begin, int64_t row_end);
AddKernel CpuAdd(CpuIsa isa);

}  // namespace candor
