#include "kernels/matmul/matmul.h"

namespace candor {

void ReferenceMatMul(const float* x, const float* w, const float* bias, const float* residual, int64_t rows, int64_t n,
                     int64_t k, double* y) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += static_cast<double>(x[r * k + j]) * w[i * k + j];
      if (bias != nullptr) sum += bias[i];
      if (residual != nullptr) sum += residual[r * n + i];
      y[r * n + i] = sum;
    }
  }
}

}  // namespace candor
