#include <cmath>

#include "kernels/rms_norm/rms_norm.h"

namespace candor {

void ReferenceRmsNorm(const float* x, const float* w, int64_t width, double eps, double* y) {
  double sum = 0.0;
  for (int64_t i = 0; i < width; ++i) sum += static_cast<double>(x[i]) * x[i];
  const double root = std::sqrt(sum / static_cast<double>(width) + eps);
  for (int64_t i = 0; i < width; ++i) y[i] = x[i] / root * (w == nullptr ? 1.0 : w[i]);
}

}  // namespace candor
