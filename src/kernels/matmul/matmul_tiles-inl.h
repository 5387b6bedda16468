// Writing a tile's results, and the table from type to kernel; shared by all ISAs (see matmul_int8-inl.h for `struct
// V`).

// y[row, outputs of the tile] = acc (+ bias) (+ residual); rows of the tile beyond the matrix are dropped.
void StoreTile(const MatMulOutput& output, int64_t tile, int64_t row, V::Floats acc) {
  const int64_t first = tile * V::kRows;
  float* y = output.y + row * output.y_stride + first;
  const float* bias = output.bias == nullptr ? nullptr : output.bias + first;
  const float* residual = output.residual == nullptr ? nullptr : output.residual + row * output.residual_stride + first;
  const int64_t count = output.w.rows - first;
  if (count >= V::kRows) {
    if (bias != nullptr) acc = V::Add(acc, V::LoadFloats(bias));
    if (residual != nullptr) acc = V::Add(acc, V::LoadFloats(residual));
    V::StoreFloats(acc, y);
    return;
  }
  float values[V::kRows];
  V::StoreFloats(acc, values);
  for (int64_t i = 0; i < count; ++i) {
    if (bias != nullptr) values[i] += bias[i];
    if (residual != nullptr) values[i] += residual[i];
    y[i] = values[i];
  }
}

// A panel holds kMaxUnitTiles tiles; units of few rows may have more.
void InPanels(const TileJob& job, TileKernel multiply) {
  TileJob part = job;
  for (int64_t tile = job.tile_begin; tile < job.tile_end; tile += kMaxUnitTiles) {
    part.tile_begin = tile;
    part.tile_end = tile + kMaxUnitTiles < job.tile_end ? tile + kMaxUnitTiles : job.tile_end;
    multiply(part);
  }
}

#include "kernels/matmul/matmul_float-inl.h"
#include "kernels/matmul/matmul_int8-inl.h"

TileKernel KernelOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return &MultiplyFloat<DType::kF32>;
    case DType::kF16:
      return &MultiplyFloat<DType::kF16>;
    case DType::kBF16:
      return &MultiplyFloat<DType::kBF16>;
    case DType::kQ4_0:
      return &MultiplyInt8<DType::kQ4_0>;
    case DType::kQ4_1:
      return &MultiplyInt8<DType::kQ4_1>;
    case DType::kQ5_0:
      return &MultiplyInt8<DType::kQ5_0>;
    case DType::kQ5_1:
      return &MultiplyInt8<DType::kQ5_1>;
    case DType::kQ8_0:
      return &MultiplyInt8<DType::kQ8_0>;
    case DType::kQ2_K:
      return &MultiplyInt8<DType::kQ2_K>;
    case DType::kQ3_K:
      return &MultiplyInt8<DType::kQ3_K>;
    case DType::kQ4_K:
      return &MultiplyInt8<DType::kQ4_K>;
    case DType::kQ5_K:
      return &MultiplyInt8<DType::kQ5_K>;
    case DType::kQ6_K:
      return &MultiplyInt8<DType::kQ6_K>;
    case DType::kIQ4_NL:
      return &MultiplyInt8<DType::kIQ4_NL>;
    case DType::kIQ4_XS:
      return &MultiplyInt8<DType::kIQ4_XS>;
    case DType::kMXFP4:
      return &MultiplyInt8<DType::kMXFP4>;
    default:
      return nullptr;
  }
}
