// embedding: y[r] = scale * row ids[r] of a (packed) embedding matrix.
#pragma once

#include <cstdint>

#include "kernels/matmul/packed_matrix.h"

namespace candor {

struct EmbeddingParams {
  PackedMatrix table;  // [vocabulary, width]
  const int32_t* const* ids =
      nullptr;  // points at the step's token id array pointer; ids were checked against the vocabulary
  float scale = 1.0f;
  float* y = nullptr;  // [rows, y_stride]
  int64_t y_stride = 0;
};

void RunEmbedding(const EmbeddingParams& params, int64_t row_begin, int64_t row_end);

}  // namespace candor
