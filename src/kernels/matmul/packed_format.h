// The packed layout of every weight type, as compile-time facts: how codes and scales of a 32-code block lie in a tile.
//
// A tile holds R rows (8, or 16 for AVX-512) and all columns: first a scale section, then at a 64-byte boundary a code
// section.
//   Codes: block after block of 32 columns. A block is a run of vectors of R rows x 4 bytes ([row][4]); "group g" is
//   columns 4g..4g+3 of the block, g = 0..7.
//     kNibbles       4 vectors; vector v holds group v in the low and group v + 4 in the high nibbles
//     kNibblesPlus1  the same, then one vector of fifth bits: bit g of byte j is column 4g + j's
//     kNibblesPlus2  the same, then two vectors of high bit pairs: bits 2i, 2i + 1 of byte j of vector h are column
//     4(4h + i) + j's kBytes         8 vectors; vector g holds group g as int8
//   Scales: per 256 columns a head of head_bytes x R (types with super-blocks), then per 32 columns side_bytes x R;
//   inside either, one field after the other, each [R] (or [R][2] for the two halves of 16 columns). Plain floats have
//   no scales; codes are [column][row] elements of the file's type.
// Rows beyond the matrix are zero bytes: their scales are zero, so that they add nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace candor {

enum class CodeLayout : uint8_t { kFloats, kNibbles, kNibblesPlus1, kNibblesPlus2, kBytes };

enum class ScaleLayout : uint8_t {
  kNone,
  kHalf,        // side: f16 d.                            w = d (q - offset)
  kHalfMin,     // side: f16 d, f16 m.                     w = d q + m
  kExponent,    // side: u8 e.                             w = 2^(e-128) q
  kSuper32,     // head: f16 d; side: s8 sc.               w = d sc q
  kSuper32Min,  // head: f16 d, dmin; side: u8 sc, mn.     w = d sc q - dmin mn
  kSuper16,     // head: f16 d; side: s8 sc[2].            w = d sc (q - offset)
  kSuper16Min,  // head: f16 d, dmin; side: u8 sc[2], mn[2]. w = d sc q - dmin mn
};

enum class CodeTable : uint8_t { kNone, kIQ4NL, kE2M1 };  // q = table[nibble]

struct PackedFormat {
  CodeLayout codes = CodeLayout::kFloats;
  ScaleLayout scales = ScaleLayout::kNone;
  int offset = 0;
  CodeTable table = CodeTable::kNone;
  bool multiplies = true;  // false: a type without float meaning
};

inline constexpr int64_t kBlockColumns = 32;
inline constexpr int64_t kSuperBlocks = 8;  // blocks per super-block

// IQ4_NL's non-linear levels, and E2M1's values doubled (MXFP4).
inline constexpr int8_t kIQ4NLTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
inline constexpr int8_t kE2M1Table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static constexpr PackedFormat FormatOf(DType dtype) {
  using C = CodeLayout;
  using S = ScaleLayout;
  switch (dtype) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return {};
    case DType::kQ4_0:
      return {C::kNibbles, S::kHalf, 8};
    case DType::kQ4_1:
      return {C::kNibbles, S::kHalfMin};
    case DType::kQ5_0:
      return {C::kNibblesPlus1, S::kHalf, 16};
    case DType::kQ5_1:
      return {C::kNibblesPlus1, S::kHalfMin};
    case DType::kQ8_0:
      return {C::kBytes, S::kHalf};
    case DType::kQ2_K:
      return {C::kNibbles, S::kSuper16Min};
    case DType::kQ3_K:
      return {C::kNibbles, S::kSuper16, 4};
    case DType::kQ4_K:
      return {C::kNibbles, S::kSuper32Min};
    case DType::kQ5_K:
      return {C::kNibblesPlus1, S::kSuper32Min};
    case DType::kQ6_K:
      return {C::kNibblesPlus2, S::kSuper16, 32};
    case DType::kIQ4_NL:
      return {C::kNibbles, S::kHalf, 0, CodeTable::kIQ4NL};
    case DType::kIQ4_XS:
      return {C::kNibbles, S::kSuper32, 0, CodeTable::kIQ4NL};
    case DType::kMXFP4:
      return {C::kNibbles, S::kExponent, 0, CodeTable::kE2M1};
    default:
      return {C::kFloats, S::kNone, 0, CodeTable::kNone, false};
  }
}

// Vectors of R x 4 bytes per block.
static constexpr int CodeVectors(CodeLayout codes) {
  switch (codes) {
    case CodeLayout::kNibbles:
      return 4;
    case CodeLayout::kNibblesPlus1:
      return 5;
    case CodeLayout::kNibblesPlus2:
      return 6;
    case CodeLayout::kBytes:
      return 8;
    default:
      return 0;
  }
}

// Scale bytes per row: `head` once per super-block, `side` once per block.
struct ScaleBytes {
  int head = 0;
  int side = 0;
};

static constexpr ScaleBytes ScaleBytesOf(ScaleLayout scales) {
  switch (scales) {
    case ScaleLayout::kHalf:
      return {0, 2};
    case ScaleLayout::kHalfMin:
      return {0, 4};
    case ScaleLayout::kExponent:
      return {0, 1};
    case ScaleLayout::kSuper32:
      return {2, 1};
    case ScaleLayout::kSuper32Min:
      return {4, 2};
    case ScaleLayout::kSuper16:
      return {2, 2};
    case ScaleLayout::kSuper16Min:
      return {4, 4};
    default:
      return {};
  }
}

// Where block b's scales lie in a tile of R rows. (Unsigned: a division by eight is then one shift.)
static constexpr int64_t HeadOffset(ScaleBytes bytes, int64_t tile_rows, int64_t block) {
  const int64_t super = static_cast<int64_t>(static_cast<uint64_t>(block) / kSuperBlocks);
  return super * (bytes.head + kSuperBlocks * bytes.side) * tile_rows;
}
static constexpr int64_t SideOffset(ScaleBytes bytes, int64_t tile_rows, int64_t block) {
  if (bytes.head == 0) return block * bytes.side * tile_rows;
  const int64_t in_super = static_cast<int64_t>(static_cast<uint64_t>(block) % kSuperBlocks);
  return HeadOffset(bytes, tile_rows, block) + (bytes.head + in_super * bytes.side) * tile_rows;
}

static constexpr int64_t RoundUp64(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Bytes of a tile and where its codes start.
struct TileLayout {
  int64_t codes_offset = 0;
  int64_t bytes = 0;
};

static constexpr TileLayout TileLayoutOf(DType dtype, int64_t tile_rows, int64_t cols) {
  const PackedFormat format = FormatOf(dtype);
  if (format.codes == CodeLayout::kFloats) return {0, RoundUp64(cols * tile_rows * (dtype == DType::kF32 ? 4 : 2))};
  const int64_t blocks = cols / kBlockColumns;
  const int64_t scales = RoundUp64(SideOffset(ScaleBytesOf(format.scales), tile_rows, blocks));
  return {scales, RoundUp64(scales + blocks * CodeVectors(format.codes) * 4 * tile_rows)};
}

}  // namespace candor
