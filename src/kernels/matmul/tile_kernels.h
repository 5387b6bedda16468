// What each ISA's file exports: one function per weight type that multiplies a run of tiles with a run of x rows.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul.h"

namespace candor {

// The largest unit that a TileKernel takes; its scratch memory on the stack has this size.
inline constexpr int64_t kMaxUnitRows = 64;
// Up to this many x rows, weights are unpacked in registers and any number of tiles is one unit.
inline constexpr int64_t kDirectRows = 4;
inline constexpr int64_t kMaxUnitTiles = 8;

struct TileJob {
  const MatMulOutput* output = nullptr;
  const float* x = nullptr;
  int64_t x_stride = 0;
  QuantizedRows xq;
  int64_t tile_bytes = 0;
  int64_t codes_offset = 0;
  int64_t tile_begin = 0;  // in tiles of the output's weight
  int64_t tile_end = 0;
  int64_t row_begin = 0;  // in rows of x
  int64_t row_end = 0;
};
using TileKernel = void (*)(const TileJob& job);

struct IsaMatMul {
  void (*quantize)(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end);
  TileKernel (*kernel)(DType dtype);  // null for a type that has no kernel
};

void QuantizeScalar(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end);
void QuantizeAvx2(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end);

extern const IsaMatMul kMatMulScalar;
extern const IsaMatMul kMatMulAvx2;
extern const IsaMatMul kMatMulAvx512;

}  // namespace candor
