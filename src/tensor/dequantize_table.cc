// Formats whose four-bit codes index a table of values: IQ4_NL, IQ4_XS (a non-linear table), MXFP4 (E2M1 with a shared
// power of two).
#include <bit>

#include "tensor/block_bytes.h"
#include "tensor/block_decoders.h"

namespace candor {
namespace {

constexpr float kIQ4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// Twice the E2M1 values 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives (OCP Microscaling Formats 1.0); -0 is read as 0.
constexpr float kE2M1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// 32 codes: element j in the low nibble of byte j, element j + 16 in the high one.
void DecodeByTable(const std::byte* qs, float scale, const float (&table)[16], float* out) {
  for (int j = 0; j < 16; ++j) {
    const int byte = ByteAt(qs, j);
    out[j] = scale * table[byte & 15];
    out[j + 16] = scale * table[byte >> 4];
  }
}

// 2^(exponent - 128): half of the E8M0 scale, for the doubled table. The two smallest are subnormal.
float HalfOfE8M0(uint32_t exponent) {
  return std::bit_cast<float>(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
}

}  // namespace

void DecodeIQ4_NL(const std::byte* block, float* out) { DecodeByTable(block + 2, HalfAt(block, 0), kIQ4Values, out); }

void DecodeIQ4_XS(const std::byte* block, float* out) {
  const float d = HalfAt(block, 0);
  const int scales_high = LoadAt<uint16_t>(block, 2);
  for (int sub = 0; sub < 8; ++sub) {
    const int low = (ByteAt(block, 4 + sub / 2) >> (4 * (sub % 2))) & 15;
    const int high = (scales_high >> (2 * sub)) & 3;
    DecodeByTable(block + 8 + 16 * sub, d * static_cast<float>((low | high << 4) - 32), kIQ4Values, out + 32 * sub);
  }
}

void DecodeMXFP4(const std::byte* block, float* out) {
  DecodeByTable(block + 1, HalfOfE8M0(static_cast<uint32_t>(ByteAt(block, 0))), kE2M1Doubled, out);
}

}  // namespace candor
