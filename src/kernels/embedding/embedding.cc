#include "kernels/embedding/embedding.h"

namespace candor {

void RunEmbedding(const EmbeddingParams& params, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    float* y = params.y + row * params.y_stride;
    UnpackRow(params.table, (*params.ids)[row], {y, static_cast<size_t>(params.table.cols)});
    if (params.scale == 1.0f) continue;
    for (int64_t i = 0; i < params.table.cols; ++i) y[i] *= params.scale;
  }
}

}  // namespace candor
