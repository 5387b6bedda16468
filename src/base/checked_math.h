// Unsigned 64-bit arithmetic on numbers that come from files: nullopt instead of wrapping around.
#pragma once

#include <cstdint>
#include <optional>

namespace candor {

constexpr std::optional<uint64_t> CheckedAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

constexpr std::optional<uint64_t> CheckedMul(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// `value` rounded up to a multiple of `alignment` (a power of two).
constexpr std::optional<uint64_t> CheckedAlignUp(uint64_t value, uint64_t alignment) {
  const auto sum = CheckedAdd(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

constexpr bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Does [offset, offset + length) lie inside [0, size)? Never overflows.
constexpr bool RangeFits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

}  // namespace candor
