#include "kernels/select_rows/select_rows.h"

#include <cstring>

namespace candor {

void RunSelectRows(const SelectRowsParams& params, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* source = params.x + (*params.index)[row] * params.x_stride;
    std::memcpy(params.y + row * params.y_stride, source, static_cast<size_t>(params.width) * sizeof(float));
  }
}

}  // namespace candor
