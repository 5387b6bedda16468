#include "kernels/rope/rope_table.h"

#include <cmath>

namespace candor {

void RopeTable(const RopeTableParams& params, int64_t row_begin, int64_t row_end) {
  const int32_t* position = *params.position;
  const int32_t pairs = params.n_rot / 2;
  const double magnitude = params.magnitude;
  for (int64_t row = row_begin; row < row_end; ++row) {
    float* cosine = params.table + row * params.n_rot;
    float* sine = cosine + pairs;
    for (int32_t i = 0; i < pairs; ++i) {
      const double angle = position[row] * params.inverse_frequency[i];
      cosine[i] = static_cast<float>(std::cos(angle) * magnitude);
      sine[i] = static_cast<float>(std::sin(angle) * magnitude);
    }
  }
}

}  // namespace candor
