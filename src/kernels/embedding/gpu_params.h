// Parameters of embedding's GPU kernels, shared by C++ and Slang.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// clang-format off
struct EmbeddingGpuParams {
  CANDOR_GPU_POINTER(uint8_t) table;  // [vocabulary] rows of row_bytes (lib/weights.slang)
  CANDOR_GPU_POINTER(int32_t) ids;    // [rows], below the vocabulary; negative: a row of zeros
  CANDOR_GPU_POINTER(float) y;        // [rows, y_stride]
  uint32_t row_bytes;
  uint32_t width;
  uint32_t y_stride;
  float scale;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
