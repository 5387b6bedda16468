#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "kernels/matmul/tile_kernels.h"

namespace candor {
namespace {

// The largest |x|, where a NaN is larger than infinity and infinity than any number.
float LargestSize(const float* values, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    largest = std::max(largest, bits & 0x7fffffffu);
  }
  float size;
  std::memcpy(&size, &largest, sizeof(size));
  return size;
}

// Up to 32 codes (zeros after `count`), their sums per 16 and the scale.
void QuantizeGroup(const float* values, int64_t count, int8_t* q, int16_t* sums, float* scale) {
  float s = LargestSize(values, count) / 127.0f;
  if (s < FLT_MIN) s = 0;  // below normal range the codes would not fit; such values are as good as zero
  *scale = s;
  const bool has_codes = s > 0 && s <= FLT_MAX;  // not for zeros, infinities and NaNs
  sums[0] = sums[1] = 0;
  for (int64_t i = 0; i < 32; ++i) {
    q[i] = has_codes && i < count ? static_cast<int8_t>(std::nearbyint(values[i] / s)) : 0;
    sums[i / 16] = static_cast<int16_t>(sums[i / 16] + q[i]);
  }
}

}  // namespace

void QuantizeScalar(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    for (int64_t k = 0; k < out.stride; k += 32) {
      const int64_t count = std::clamp<int64_t>(out.cols - k, 0, 32);
      const int64_t at = row * out.stride + k;
      QuantizeGroup(x + row * x_stride + k, count, out.q + at, out.sums + at / 16, out.scale + at / 32);
    }
  }
}

}  // namespace candor
