// gated_activation: y = act(gate) * up, elementwise. Sources: Shazeer, "GLU Variants Improve Transformer", 2020
// (SwiGLU, GEGLU); Hendrycks and Gimpel, "GELU", 2016 (erf form and tanh form).
#pragma once

#include <cstdint>

#include "platform/cpu_features.h"

namespace candor {

enum class Activation { kSilu, kGeluTanh, kGelu };

struct GatedActivationParams {
  const float* gate = nullptr;  // [rows, gate_stride]
  const float* up = nullptr;    // [rows, up_stride]
  float* y = nullptr;           // [rows, y_stride]; may be gate
  int64_t gate_stride = 0;
  int64_t up_stride = 0;
  int64_t y_stride = 0;
  int64_t width = 0;
  Activation activation = Activation::kSilu;
};

using GatedActivationKernel = void (*)(const GatedActivationParams& params, int64_t row_begin, int64_t row_end);
GatedActivationKernel CpuGatedActivation(CpuIsa isa);

double ReferenceActivation(Activation activation, double x);

}  // namespace candor
