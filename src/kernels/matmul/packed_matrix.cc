#include "kernels/matmul/packed_matrix.h"

#include <limits>

#include "base/check.h"
#include "kernels/matmul/packed_format.h"

namespace candor {

ActivationFormat ActivationFormatFor(DType dtype) {
  return FormatOf(dtype).codes == CodeLayout::kFloats ? ActivationFormat::kF32 : ActivationFormat::kInt8Per32;
}

int64_t PackedTileRows(DType, CpuIsa isa) { return isa == CpuIsa::kAvx512 ? 16 : 8; }

Result<size_t> PackedBytes(DType dtype, CpuIsa isa, int64_t rows, int64_t cols) {
  if (!FormatOf(dtype).multiplies) {
    return UnimplementedError(
        "matmul: expected a float or quantised weight type, got {}; convert the tensor to one of them",
        DTypeName(dtype));
  }
  const uint32_t block = Traits(dtype).block_elements;
  if (rows <= 0 || cols <= 0 || cols % block != 0) {
    return InvalidArgumentError(
        "matmul: expected a {} weight with rows > 0 and a multiple of {} columns, got {} x {}; check the tensor's "
        "shape",
        DTypeName(dtype), block, rows, cols);
  }
  // A tile has at most 16 rows x 4 bytes and under 8 bytes of scales a block of 32: 80 bytes a column bounds it.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 128;
  const int64_t tile_rows = PackedTileRows(dtype, isa);
  const int64_t tiles = rows / tile_rows + (rows % tile_rows != 0);
  if (cols > kMost || tiles > kMost / cols) {
    return InvalidArgumentError(
        "matmul: expected a {} weight that fits the address space, got {} x {}; check the tensor's shape",
        DTypeName(dtype), rows, cols);
  }
  return static_cast<size_t>(tiles * TileLayoutOf(dtype, tile_rows, cols).bytes);
}

}  // namespace candor
