// IEEE binary16 and bfloat16, by their bit layouts.
#include <bit>
#include <cmath>
#include <cstdint>

#include "tensor/dequantize.h"

namespace candor {

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1Fu;
  const uint32_t mantissa = half & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));  // infinity, NaN
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // zero, subnormal: exact in a float
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));  // NaN, made quiet
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);     // rounds to 65536 or more
  if (magnitude < 0x38800000u) {
    // Below 2^-14: a subnormal half is a count of 2^-24; nearbyint rounds ties to even.
    const float count = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(count));
  }
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace candor
