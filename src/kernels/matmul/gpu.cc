#include "kernels/matmul/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernels/lib/gpu_weights.h"

namespace candor {
namespace {

// Rows that one workgroup of a decode kernel takes: the smallest variant that does it in the fewest passes.
uint32_t GemvRows(uint32_t rows) { return rows == 1 ? 1 : 8; }
uint32_t GemvInt8Rows(uint32_t rows) { return rows > 1 && rows <= 4 ? 4 : GemvRows(rows); }

// Lanes that share an output: as many as have a step of 64 weights to do, so that decode of one row keeps the machine
// busy. Depends on k and the device alone: it decides the order of additions.
uint32_t GemvLanes(uint32_t k, const GpuShape& shape) {
  const uint32_t steps = std::max(1u, (k + 63) / 64);
  return std::min({std::bit_floor(steps), shape.subgroup_size, 32u});
}

GpuLaunch Gemv(const std::string& prefix, DType dtype, uint32_t rows, MatMulGpuParams params, const GpuShape& shape) {
  params.lanes = GemvLanes(params.k, shape);
  const GpuGrid grid = FoldGrid(DivideUp(params.n, kGemvThreads / params.lanes), DivideUp(params.rows, rows));
  return MakeGpuLaunch(prefix + "_" + GpuWeightTypeName(dtype), fmt::format("{}_r{}", prefix, rows), grid, params);
}

// Workgroups that keep a large device busy; more of them only repeat the work on the row.
constexpr uint32_t kDecodeGroups = 768;

// Columns that a lane group does one after the other.
uint32_t DecodePasses(uint32_t columns, uint32_t k, const GpuShape& shape) {
  const uint64_t stride = kDecodeThreads / GemvLanes(k, shape);
  return std::clamp(DivideUp(columns, stride * kDecodeGroups), 1u, 16u);
}

GpuLaunch Decode(const char* entry, DType dtype, DecodeGpuParams params, const GpuShape& shape, uint32_t passes) {
  const uint32_t lanes = GemvLanes(params.k, shape);
  const uint32_t stride = kDecodeThreads / lanes;
  params.lanes_and_passes = lanes | passes << 8;
  uint64_t groups = 0;
  for (const uint32_t n : {params.n0, params.n1, params.n2}) groups += DivideUp(n, uint64_t{stride} * passes);
  return MakeGpuLaunch("decode_" + GpuWeightTypeName(dtype), entry, FoldGrid(groups), params);
}

}  // namespace

MatMulGpuParams GpuMatMulShape(DType dtype, uint32_t rows, uint32_t n, uint32_t k) {
  MatMulGpuParams params{};
  params.rows = rows;
  params.n = n;
  params.k = k;
  params.row_bytes = static_cast<uint32_t>(BytesOf(dtype, k).value_or(0));
  params.x_stride = (k + 3) / 4 * 4;
  params.code_stride = (k + 63) / 64 * 64;
  params.y_stride = n;
  return params;
}

Result<GpuLaunch> GpuMatMul(DType dtype, MatMulGpuParams params, const GpuShape& shape) {
  if (!GpuWeightTypeSupported(dtype)) return GpuWeightTypeError("matmul", dtype);
  if (params.rows <= kMaxGemvRows) return Gemv("gemv", dtype, GemvRows(params.rows), params, shape);
  const GpuGrid grid = FoldGrid(DivideUp(params.n, kGemmTile), DivideUp(params.rows, kGemmTile));
  return MakeGpuLaunch("gemm_" + GpuWeightTypeName(dtype), "gemm", grid, params);
}

Result<GpuLaunch> GpuInt8MatMul(DType dtype, MatMulGpuParams params, const GpuShape& shape) {
  if (!GpuCodedTypeSupported(dtype)) return GpuWeightTypeError("matmul with int8 activations", dtype);
  if (params.rows > kMaxGemvRows) {
    const GpuGrid grid = FoldGrid(DivideUp(params.n, kGemmTile), DivideUp(params.rows, kGemmTile));
    return MakeGpuLaunch("gemm_int8_" + GpuWeightTypeName(dtype), "gemm_int8", grid, params);
  }
  return Gemv("gemv_int8", dtype, GemvInt8Rows(params.rows), params, shape);
}

bool GpuDecodeSupported(DType dtype, uint32_t k) { return GpuCodedTypeSupported(dtype) && k <= kMaxDecodeWidth; }

GpuLaunch GpuDecodeProducts(DType dtype, DecodeGpuParams params, const GpuShape& shape) {
  const uint32_t passes = DecodePasses(params.n0 + params.n1 + params.n2, params.k, shape);
  return Decode("decode_products", dtype, params, shape, passes);
}

GpuLaunch GpuDecodeGated(DType dtype, DecodeGpuParams params, const GpuShape& shape) {
  params.n1 = 0;  // as wide as matrix 0, and in the same columns
  return Decode("decode_gated", dtype, params, shape, DecodePasses(params.n0, params.k, shape));
}

GpuLaunch GpuQuantizeRows(const QuantizeRowsGpuParams& params) {
  const GpuGrid grid{DivideUp(params.code_stride / 8, kElementThreads), params.rows, 1};
  return MakeGpuLaunch("quantize_rows", "quantize_rows", grid, params);
}

}  // namespace candor
