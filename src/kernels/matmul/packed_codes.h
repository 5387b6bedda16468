// Plain C++ reading of packed blocks: for the scalar kernels and the look-up of single rows.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/matmul/packed_format.h"
#include "tensor/dequantize.h"

namespace candor {

// Column `column` (0..31) of row `row` of a block's codes, as the integer q before any offset.
static inline int PackedCode(const PackedFormat& format, const uint8_t* codes, int64_t tile_rows, int64_t row,
                             int column) {
  const int group = column / 4, j = column % 4;
  const auto byte = [&](int vector) { return codes[(vector * tile_rows + row) * 4 + j]; };
  if (format.codes == CodeLayout::kBytes) return static_cast<int8_t>(byte(group));
  const int nibble = (byte(group & 3) >> (group & 4)) & 15;
  if (format.codes == CodeLayout::kNibblesPlus1) return nibble | ((byte(4) >> group) & 1) << 4;
  if (format.codes == CodeLayout::kNibblesPlus2) return nibble | ((byte(4 + group / 4) >> (2 * (group & 3))) & 3) << 4;
  if (format.table == CodeTable::kIQ4NL) return kIQ4NLTable[nibble];
  if (format.table == CodeTable::kE2M1) return kE2M1Table[nibble];
  return nibble;
}

static inline float PackedHalf(const uint8_t* field, int64_t row) {
  uint16_t half;
  std::memcpy(&half, field + 2 * row, 2);
  return HalfToFloat(half);
}

// 2^(e - 128): MXFP4's scale for doubled codes; the two smallest are subnormal.
static inline float ExponentScale(uint8_t exponent) {
  const uint32_t bits = exponent < 2 ? 0x00200000u << exponent : static_cast<uint32_t>(exponent - 1) << 23;
  float scale;
  std::memcpy(&scale, &bits, 4);
  return scale;
}

}  // namespace candor
