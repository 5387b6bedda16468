// select_rows: y[i] = x[index[i]]: the rows whose logits are asked for.
#pragma once

#include <cstdint>

namespace candor {

struct SelectRowsParams {
  const float* x = nullptr;  // [rows, x_stride]
  float* y = nullptr;        // [selected rows, y_stride]
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  int64_t width = 0;
  const int32_t* const* index = nullptr;  // points at the step's index array pointer
};

void RunSelectRows(const SelectRowsParams& params, int64_t row_begin, int64_t row_end);

}  // namespace candor
