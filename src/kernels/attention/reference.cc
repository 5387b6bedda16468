#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention/attention.h"

namespace candor {

void ReferenceAttention(const float* q, const float* keys, const float* values, int64_t count, int64_t key_dim,
                        int64_t value_dim, double scale, double softcap, double* y) {
  std::vector<double> weights(count);
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < count; ++j) {
    double score = 0.0;
    for (int64_t d = 0; d < key_dim; ++d) score += static_cast<double>(q[d]) * keys[j * key_dim + d];
    score *= scale;
    if (softcap > 0.0) score = softcap * std::tanh(score / softcap);
    weights[j] = score;
    max = std::max(max, score);
  }
  double sum = 0.0;
  for (double& weight : weights) sum += weight = std::exp(weight - max);
  for (int64_t n = 0; n < value_dim; ++n) {
    double total = 0.0;
    for (int64_t j = 0; j < count; ++j) total += weights[j] * values[j * value_dim + n];
    y[n] = total / sum;
  }
}

}  // namespace candor
