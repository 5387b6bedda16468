// rms_norm: y = x / sqrt(mean(x^2) + eps) * w over groups of `width` values (a whole row, or each head of a row). x and
// y may be the same. Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019. Gemma's "+ 1" is already
// folded into w by the file.
#pragma once

#include <cstdint>

#include "platform/cpu_features.h"

namespace candor {

struct RmsNormParams {
  const float* x = nullptr;  // [rows, x_stride]
  const float* w = nullptr;  // [width]; null: no weight
  float* y = nullptr;        // [rows, y_stride]
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  int64_t width = 0;
  int64_t groups = 1;  // groups of `width` adjacent values in a row
  float eps = 0.0f;
};

using RmsNormKernel = void (*)(const RmsNormParams& params, int64_t row_begin, int64_t row_end);
RmsNormKernel CpuRmsNorm(CpuIsa isa);

void ReferenceRmsNorm(const float* x, const float* w, int64_t width, double eps, double* y);

}  // namespace candor
