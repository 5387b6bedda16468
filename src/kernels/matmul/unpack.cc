// UnpackRow: the same float operations in the same order as Dequantize.
#include "base/check.h"
#include "kernels/matmul/packed_codes.h"
#include "kernels/matmul/packed_format.h"
#include "kernels/matmul/packed_matrix.h"

namespace candor {
namespace {

// Of one row and one half (16 columns) of a block: w = scale * (q - offset) + min.
struct HalfScales {
  float scale = 0;
  float min = 0;
};

HalfScales ScalesOf(const PackedFormat& format, const uint8_t* head, const uint8_t* side, int64_t tile_rows,
                    int64_t row, int half) {
  switch (format.scales) {
    case ScaleLayout::kHalf:
      return {PackedHalf(side, row), 0};
    case ScaleLayout::kHalfMin:
      return {PackedHalf(side, row), PackedHalf(side + 2 * tile_rows, row)};
    case ScaleLayout::kExponent:
      return {ExponentScale(side[row]), 0};
    case ScaleLayout::kSuper32:
      return {PackedHalf(head, row) * static_cast<int8_t>(side[row]), 0};
    case ScaleLayout::kSuper32Min:
      return {PackedHalf(head, row) * side[row], -(PackedHalf(head + 2 * tile_rows, row) * side[tile_rows + row])};
    case ScaleLayout::kSuper16:
      return {PackedHalf(head, row) * static_cast<int8_t>(side[2 * row + half]), 0};
    case ScaleLayout::kSuper16Min:
      return {PackedHalf(head, row) * side[2 * row + half],
              -(PackedHalf(head + 2 * tile_rows, row) * side[2 * (tile_rows + row) + half])};
    case ScaleLayout::kNone:
      break;
  }
  return {};
}

bool HasMin(ScaleLayout scales) {
  return scales == ScaleLayout::kHalfMin || scales == ScaleLayout::kSuper32Min || scales == ScaleLayout::kSuper16Min;
}

void UnpackCodes(const PackedMatrix& matrix, const uint8_t* tile, const TileLayout& layout, int64_t row, float* out) {
  const PackedFormat format = FormatOf(matrix.dtype);
  const ScaleBytes bytes = ScaleBytesOf(format.scales);
  const int64_t tile_rows = PackedTileRows(matrix.dtype, matrix.isa);
  const bool has_min = HasMin(format.scales);
  for (int64_t b = 0; b < matrix.cols / kBlockColumns; ++b) {
    const uint8_t* codes = tile + layout.codes_offset + b * CodeVectors(format.codes) * 4 * tile_rows;
    const uint8_t* head = tile + HeadOffset(bytes, tile_rows, b);
    const uint8_t* side = tile + SideOffset(bytes, tile_rows, b);
    for (int half = 0; half < 2; ++half) {
      const HalfScales s = ScalesOf(format, head, side, tile_rows, row, half);
      for (int i = 0; i < 16; ++i) {
        const int q = PackedCode(format, codes, tile_rows, row, 16 * half + i) - format.offset;
        const float product = s.scale * static_cast<float>(q);
        *out++ = has_min ? product + s.min : product;
      }
    }
  }
}

void UnpackFloats(const PackedMatrix& matrix, const uint8_t* tile, int64_t row, float* out) {
  const int64_t tile_rows = PackedTileRows(matrix.dtype, matrix.isa);
  for (int64_t k = 0; k < matrix.cols; ++k) {
    const int64_t at = k * tile_rows + row;
    if (matrix.dtype == DType::kF32) {
      std::memcpy(out + k, tile + 4 * at, 4);
      continue;
    }
    uint16_t bits;
    std::memcpy(&bits, tile + 2 * at, 2);
    out[k] = matrix.dtype == DType::kF16 ? HalfToFloat(bits) : BFloat16ToFloat(bits);
  }
}

}  // namespace

void UnpackRow(const PackedMatrix& matrix, int64_t row, std::span<float> out) {
  CANDOR_CHECK(row >= 0 && row < matrix.rows, "UnpackRow: row beyond the matrix");
  CANDOR_CHECK(static_cast<int64_t>(out.size()) == matrix.cols, "UnpackRow: out is not one row");
  const int64_t tile_rows = PackedTileRows(matrix.dtype, matrix.isa);
  const TileLayout layout = TileLayoutOf(matrix.dtype, tile_rows, matrix.cols);
  const auto* tile = reinterpret_cast<const uint8_t*>(matrix.data) + row / tile_rows * layout.bytes;
  if (FormatOf(matrix.dtype).codes == CodeLayout::kFloats) {
    UnpackFloats(matrix, tile, row % tile_rows, out.data());
  } else {
    UnpackCodes(matrix, tile, layout, row % tile_rows, out.data());
  }
}

}  // namespace candor
