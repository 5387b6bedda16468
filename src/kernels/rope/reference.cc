#include <cmath>

#include "kernels/rope/rope.h"

namespace candor {

void ReferenceRope(const float* x, int64_t position, const double* inverse_frequency, double magnitude,
                   int32_t head_dim, int32_t n_rot, RopePairing pairing, double* y) {
  for (int32_t i = 0; i < head_dim; ++i) y[i] = x[i];
  for (int32_t i = 0; i < n_rot / 2; ++i) {
    const int32_t a = pairing == RopePairing::kHalf ? i : 2 * i;
    const int32_t b = pairing == RopePairing::kHalf ? i + n_rot / 2 : 2 * i + 1;
    const double angle = static_cast<double>(position) * inverse_frequency[i];
    y[a] = magnitude * (x[a] * std::cos(angle) - x[b] * std::sin(angle));
    y[b] = magnitude * (x[b] * std::cos(angle) + x[a] * std::sin(angle));
  }
}

}  // namespace candor
