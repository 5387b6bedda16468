// Parameters of gated_activation's GPU kernels, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// clang-format off
struct GatedActivationGpuParams {
  CANDOR_GPU_POINTER(float) gate;  // [rows, gate_stride]
  CANDOR_GPU_POINTER(float) up;    // [rows, up_stride]
  CANDOR_GPU_POINTER(float) y;     // [rows, y_stride]; may be gate or up
  uint32_t gate_stride;
  uint32_t up_stride;
  uint32_t y_stride;
  uint32_t width;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
