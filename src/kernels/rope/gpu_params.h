// Parameters of rope's GPU kernels, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// clang-format off
struct RopeGpuParams {
  CANDOR_GPU_POINTER(float) x;           // [rows, x_stride], rotated in place
  CANDOR_GPU_POINTER(float) table;       // [positions, n_rot]: cosines, then sines, as rope_table of the CPU makes it
  CANDOR_GPU_POINTER(int32_t) position;  // [rows]: row of the table; negative: a row that is not there, its x stays
  uint32_t x_stride;
  uint32_t heads;
  uint32_t head_dim;
  uint32_t n_rot;  // even, at most head_dim
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
