// Blocks of 32 elements with one scale: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0. A byte of `qs` holds elements j (low nibble) and
// j + 16 (high).
#include "tensor/block_bytes.h"
#include "tensor/block_decoders.h"

namespace candor {
namespace {

constexpr int kHalf = 16;

// value(q) for the 32 four-bit codes at `qs`.
template <typename Value>
void DecodeNibbles(const std::byte* qs, float* out, Value value) {
  for (int j = 0; j < kHalf; ++j) {
    const int byte = ByteAt(qs, j);
    out[j] = value(byte & 15);
    out[j + kHalf] = value(byte >> 4);
  }
}

// value(q) for 32 five-bit codes: the fifth bit of element j is bit j of the word at `qh`.
template <typename Value>
void DecodeFiveBits(const std::byte* qh, const std::byte* qs, float* out, Value value) {
  const auto high = LoadAt<uint32_t>(qh, 0);
  for (int j = 0; j < kHalf; ++j) {
    const int byte = ByteAt(qs, j);
    out[j] = value((byte & 15) | static_cast<int>((high >> j) & 1) << 4);
    out[j + kHalf] = value((byte >> 4) | static_cast<int>((high >> (j + kHalf)) & 1) << 4);
  }
}

}  // namespace

void DecodeQ4_0(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  DecodeNibbles(block + 2, out, [d](int q) { return d * static_cast<float>(q - 8); });
}

void DecodeQ4_1(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  const float m = HalfAt(block, 2);
  DecodeNibbles(block + 4, out, [d, m](int q) { return d * static_cast<float>(q) + m; });
}

void DecodeQ5_0(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  DecodeFiveBits(block + 2, block + 6, out, [d](int q) { return d * static_cast<float>(q - 16); });
}

void DecodeQ5_1(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  const float m = HalfAt(block, 2);
  DecodeFiveBits(block + 4, block + 8, out, [d, m](int q) { return d * static_cast<float>(q) + m; });
}

void DecodeQ8_0(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  for (int j = 0; j < 32; ++j) out[j] = d * static_cast<float>(SignedByteAt(block, 2 + j));
}

}  // namespace candor
