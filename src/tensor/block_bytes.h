// Unaligned little-endian access to a block's fields. Private to src/tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/dequantize.h"

namespace candor {

inline int ByteAt(const std::byte* block, size_t offset) { return static_cast<int>(block[offset]); }

inline int SignedByteAt(const std::byte* block, size_t offset) { return static_cast<int8_t>(block[offset]); }

template <typename T>
T LoadAt(const std::byte* block, size_t offset) {
  T value;
  std::memcpy(&value, block + offset, sizeof(T));
  return value;
}

inline float HalfAt(const std::byte* block, size_t offset) { return HalfToFloat(LoadAt<uint16_t>(block, offset)); }

}  // namespace candor
