#include "kernels/select_rows/select_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace candor {
namespace {

TEST(SelectRows, CopiesTheNamedRowsInOrder) {
  const std::vector<float> x = {1, 2, 0, 3, 4, 0, 5, 6, 0};  // three rows of two values, stride 3
  const std::vector<int32_t> index = {2, 0};
  const int32_t* index_pointer = index.data();
  std::vector<float> y(5, -1.0f);
  SelectRowsParams params;
  params.x = x.data();
  params.y = y.data();
  params.x_stride = 3;
  params.y_stride = 2;
  params.width = 2;
  params.index = &index_pointer;
  RunSelectRows(params, 0, 2);
  EXPECT_EQ(y, (std::vector<float>{5, 6, 1, 2, -1}));
}

}  // namespace
}  // namespace candor
