#include <immintrin.h>

#include <cfloat>
#include <cstdint>
#include <cstring>

#include "kernels/matmul/tile_kernels.h"

namespace candor {
namespace {

// The largest |x| of 32 values. Sizes are compared as integers: a NaN is larger than infinity, infinity than any
// number.
float LargestSize(const __m256 (&x)[4]) {
  const __m256i mask = _mm256_set1_epi32(0x7fffffff);
  __m256i largest = _mm256_setzero_si256();
  for (int i = 0; i < 4; ++i) largest = _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(x[i]), mask));
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(four));
}

// 32 codes, their sums per 16 and the scale.
void QuantizeGroup(const float* values, int8_t* q, int16_t* sums, float* scale) {
  __m256 x[4];
  for (int i = 0; i < 4; ++i) x[i] = _mm256_loadu_ps(values + 8 * i);
  float s = LargestSize(x) / 127.0f;
  if (s < FLT_MIN) s = 0;  // below normal range the codes would not fit; such values are as good as zero
  *scale = s;
  const bool has_codes = s > 0 && s <= FLT_MAX;  // not for zeros, infinities and NaNs
  __m256i codes[4];
  for (int i = 0; i < 4; ++i) {
    codes[i] = has_codes ? _mm256_cvtps_epi32(_mm256_div_ps(x[i], _mm256_set1_ps(s))) : _mm256_setzero_si256();
  }
  const __m256i words = _mm256_set1_epi16(1);
  __m256i halves[2];  // int16, lanes 0 2 4 6 | 1 3 5 7 in runs of four
  for (int i = 0; i < 2; ++i) {
    halves[i] = _mm256_packs_epi32(codes[2 * i], codes[2 * i + 1]);
    const __m256i fours = _mm256_madd_epi16(halves[i], words);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    sums[i] = static_cast<int16_t>(_mm_cvtsi128_si32(sum));
  }
  const __m256i bytes = _mm256_packs_epi16(halves[0], halves[1]);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(q), _mm256_permutevar8x32_epi32(bytes, order));
}

}  // namespace

void QuantizeAvx2(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* values = x + row * x_stride;
    int8_t* q = out.q + row * out.stride;
    float* scale = out.scale + row * (out.stride / 32);
    int16_t* sums = out.sums + row * (out.stride / 16);
    for (int64_t k = 0; k < out.stride; k += 32) {
      if (k + 32 <= out.cols) {
        QuantizeGroup(values + k, q + k, sums + k / 16, scale + k / 32);
        continue;
      }
      float rest[32] = {};
      if (k < out.cols) std::memcpy(rest, values + k, (out.cols - k) * sizeof(float));
      QuantizeGroup(rest, q + k, sums + k / 16, scale + k / 32);
    }
  }
}

}  // namespace candor
