// The products of a step, cut into units; each unit goes to the kernel of its weight's type and ISA.
#include "kernels/matmul/matmul.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/lib/select_isa.h"
#include "kernels/matmul/packed_format.h"
#include "kernels/matmul/tile_kernels.h"

namespace candor {
namespace {

// A direct unit streams about this much of the weights (1-2 microseconds of memory time): small enough to share the
// small matrices of a small model among threads, large enough for the claim of a unit not to show.
constexpr int64_t kDirectUnitBytes = 16 * 1024;
// More units than this per matrix only cost claims.
constexpr int64_t kMaxDirectUnits = 256;
// Direct kernels take four tiles at once.
constexpr int64_t kDirectTileStep = 4;

// How one output is cut: unit u is tile run u / row_runs and row run u % row_runs.
struct UnitShape {
  int64_t tiles = 0;  // of the whole weight
  int64_t tiles_per_unit = 0;
  int64_t rows_per_unit = 0;
  int64_t tile_runs = 0;
  int64_t row_runs = 0;
  TileLayout layout;

  int64_t count() const { return tile_runs * row_runs; }
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

UnitShape ShapeOf(const PackedMatrix& w, int64_t rows) {
  const int64_t tile_rows = PackedTileRows(w.dtype, w.isa);
  UnitShape shape;
  shape.layout = TileLayoutOf(w.dtype, tile_rows, w.cols);
  shape.tiles = CeilDiv(w.rows, tile_rows);
  if (rows <= kDirectRows) {
    const int64_t wanted = std::max(kDirectUnitBytes / shape.layout.bytes, CeilDiv(shape.tiles, kMaxDirectUnits));
    shape.tiles_per_unit = CeilDiv(std::max<int64_t>(wanted, 1), kDirectTileStep) * kDirectTileStep;
    shape.rows_per_unit = std::max<int64_t>(rows, 1);
  } else {
    shape.tiles_per_unit = kMaxUnitTiles;
    shape.rows_per_unit = kMaxUnitRows;
  }
  shape.tile_runs = CeilDiv(shape.tiles, shape.tiles_per_unit);
  shape.row_runs = CeilDiv(rows, shape.rows_per_unit);
  return shape;
}

void RunUnit(const IsaMatMul& isa, const MatMulParams& params, const MatMulOutput& output, const UnitShape& shape,
             int64_t rows, int64_t unit) {
  TileJob job;
  job.output = &output;
  job.x = params.x;
  job.x_stride = params.x_stride;
  job.xq = params.xq;
  job.tile_bytes = shape.layout.bytes;
  job.codes_offset = shape.layout.codes_offset;
  job.tile_begin = unit / shape.row_runs * shape.tiles_per_unit;
  job.tile_end = std::min(job.tile_begin + shape.tiles_per_unit, shape.tiles);
  job.row_begin = unit % shape.row_runs * shape.rows_per_unit;
  job.row_end = std::min(job.row_begin + shape.rows_per_unit, rows);
  isa.kernel(output.w.dtype)(job);
}

int64_t Units(const MatMulParams& params, int64_t rows) {
  int64_t units = 0;
  for (int i = 0; i < params.output_count; ++i) units += ShapeOf(params.outputs[i].w, rows).count();
  return units;
}

void RunUnits(const IsaMatMul& isa, const MatMulParams& params, int64_t rows, int64_t unit_begin, int64_t unit_end) {
  int64_t first = 0;  // unit index of the output's first unit
  for (int i = 0; i < params.output_count; ++i) {
    const MatMulOutput& output = params.outputs[i];
    const UnitShape shape = ShapeOf(output.w, rows);
    const int64_t begin = std::max(unit_begin - first, int64_t{0});
    const int64_t end = std::min(unit_end - first, shape.count());
    for (int64_t unit = begin; unit < end; ++unit) RunUnit(isa, params, output, shape, rows, unit);
    first += shape.count();
  }
}

template <const IsaMatMul& kIsa>
void Run(const MatMulParams& params, int64_t rows, int64_t unit_begin, int64_t unit_end) {
  RunUnits(kIsa, params, rows, unit_begin, unit_end);
}

template <const IsaMatMul& kIsa>
void Quantize(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end) {
  kIsa.quantize(x, x_stride, out, row_begin, row_end);
}

template <const IsaMatMul& kIsa>
constexpr MatMulKernels kKernels = {&Quantize<kIsa>, &Units, &Run<kIsa>};

// Byte offsets of QuantizedRows' arrays in one buffer.
struct QuantizedOffsets {
  size_t scale = 0;
  size_t sums = 0;
  size_t end = 0;
};

QuantizedOffsets OffsetsOf(int64_t rows, int64_t cols) {
  const int64_t stride = QuantizedStride(cols);
  QuantizedOffsets offsets;
  offsets.scale = static_cast<size_t>(rows * stride);
  offsets.sums =
      offsets.scale + static_cast<size_t>(RoundUp64(rows * stride / 32 * static_cast<int64_t>(sizeof(float))));
  offsets.end =
      offsets.sums + static_cast<size_t>(RoundUp64(rows * stride / 16 * static_cast<int64_t>(sizeof(int16_t))));
  return offsets;
}

}  // namespace

size_t QuantizedRowsBytes(int64_t rows, int64_t cols) { return OffsetsOf(rows, cols).end; }

QuantizedRows QuantizedRowsIn(void* buffer, int64_t rows, int64_t cols) {
  const QuantizedOffsets offsets = OffsetsOf(rows, cols);
  auto* bytes = static_cast<std::byte*>(buffer);
  QuantizedRows out;
  out.q = reinterpret_cast<int8_t*>(bytes);
  out.scale = reinterpret_cast<float*>(bytes + offsets.scale);
  out.sums = reinterpret_cast<int16_t*>(bytes + offsets.sums);
  out.cols = cols;
  out.stride = QuantizedStride(cols);
  return out;
}

const MatMulKernels& CpuMatMul(CpuIsa isa) {
  return SelectIsa(isa, kKernels<kMatMulScalar>, kKernels<kMatMulAvx2>, kKernels<kMatMulAvx512>);
}

}  // namespace candor
