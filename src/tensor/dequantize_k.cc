// Super-blocks of 256 elements with scales of their sub-blocks: Q2_K … Q6_K.
#include "tensor/block_bytes.h"
#include "tensor/block_decoders.h"

namespace candor {
namespace {

constexpr int kSuper = 256;

// Scale and minimum of sub-block i (of 8) in the 12 bytes that Q4_K and Q5_K share: six bits each.
struct ScaleMin {
  int scale;
  int minimum;
};

ScaleMin ScaleMinOf(const std::byte* scales, int i) {
  if (i < 4) return {ByteAt(scales, i) & 63, ByteAt(scales, i + 4) & 63};
  const int both = ByteAt(scales, i + 4);
  return {(both & 15) | (ByteAt(scales, i - 4) >> 6) << 4, (both >> 4) | (ByteAt(scales, i) >> 6) << 4};
}

// Q2_K and Q3_K keep two bits per element: element e is at shift 2·((e / 32) % 4) of byte 32·(e / 128) + e % 32.
int TwoBitsOf(const std::byte* qs, int e) { return (ByteAt(qs, 32 * (e / 128) + e % 32) >> (2 * ((e / 32) % 4))) & 3; }

// Six-bit scale of sub-block i (of 16) of Q3_K: four low bits in the first 8 bytes, two high bits in the last 4.
int ScaleOfQ3_K(const std::byte* scales, int i) {
  const int low = (ByteAt(scales, i % 8) >> (4 * (i / 8))) & 15;
  const int high = (ByteAt(scales, 8 + i % 4) >> (2 * (i / 4))) & 3;
  return (low | high << 4) - 32;
}

}  // namespace

void DecodeQ2_K(const std::byte* block, float* out) {
  const std::byte* scales = block;
  const std::byte* qs = block + 16;
  const float d = HalfAt(block, 80);
  const float dmin = HalfAt(block, 82);
  for (int e = 0; e < kSuper; ++e) {
    const int both = ByteAt(scales, e / 16);
    const float scale = d * static_cast<float>(both & 15);
    const float minimum = dmin * static_cast<float>(both >> 4);
    out[e] = scale * static_cast<float>(TwoBitsOf(qs, e)) - minimum;
  }
}

void DecodeQ3_K(const std::byte* block, float* out) {
  const std::byte* hmask = block;
  const std::byte* qs = block + 32;
  const std::byte* scales = block + 96;
  const float d = HalfAt(block, 108);
  for (int e = 0; e < kSuper; ++e) {
    const float scale = d * static_cast<float>(ScaleOfQ3_K(scales, e / 16));
    const int high = (ByteAt(hmask, e % 32) >> (e / 32)) & 1;
    out[e] = scale * static_cast<float>(TwoBitsOf(qs, e) + 4 * high - 4);
  }
}

void DecodeQ4_K(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  const float dmin = HalfAt(block, 2);
  const std::byte* scales = block + 4;
  const std::byte* qs = block + 16;
  for (int sub = 0; sub < 8; ++sub) {
    const ScaleMin six_bits = ScaleMinOf(scales, sub);
    const float scale = d * static_cast<float>(six_bits.scale);
    const float minimum = dmin * static_cast<float>(six_bits.minimum);
    for (int l = 0; l < 32; ++l) {
      const int q = (ByteAt(qs, 32 * (sub / 2) + l) >> (4 * (sub % 2))) & 15;
      out[32 * sub + l] = scale * static_cast<float>(q) - minimum;
    }
  }
}

void DecodeQ5_K(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  const float dmin = HalfAt(block, 2);
  const std::byte* scales = block + 4;
  const std::byte* qh = block + 16;
  const std::byte* qs = block + 48;
  for (int sub = 0; sub < 8; ++sub) {
    const ScaleMin six_bits = ScaleMinOf(scales, sub);
    const float scale = d * static_cast<float>(six_bits.scale);
    const float minimum = dmin * static_cast<float>(six_bits.minimum);
    for (int l = 0; l < 32; ++l) {
      const int low = (ByteAt(qs, 32 * (sub / 2) + l) >> (4 * (sub % 2))) & 15;
      const int fifth = (ByteAt(qh, l) >> sub) & 1;
      out[32 * sub + l] = scale * static_cast<float>(low | fifth << 4) - minimum;
    }
  }
}

void DecodeQ6_K(const std::byte* block, float* out) {
  const std::byte* ql = block;
  const std::byte* qh = block + 128;
  const std::byte* scales = block + 192;
  const float d = HalfAt(block, 208);
  for (int e = 0; e < kSuper; ++e) {
    const int half = e / 128;
    const int quarter = (e / 32) % 4;  // of the half: which nibble of which 32 bytes of ql, which two bits of qh
    const int low = (ByteAt(ql, 64 * half + 32 * (quarter % 2) + e % 32) >> (4 * (quarter / 2))) & 15;
    const int high = (ByteAt(qh, 32 * half + e % 32) >> (2 * quarter)) & 3;
    const float scale = d * static_cast<float>(SignedByteAt(scales, e / 16));
    out[e] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

}  // namespace candor
