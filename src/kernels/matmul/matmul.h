// matmul: y[r, n] = sum_k x[r, k] * w[n, k] (+ bias[n]) (+ residual[r, n]) for up to three weights that share x.
// For every (row, output) pair one order of additions over k and one int8 grouping, whatever the number of rows, the
// unit range or the thread: results are bit-identical alone and in any batch (within one ISA).
#pragma once

#include <cstdint>

#include "kernels/matmul/packed_matrix.h"
#include "platform/cpu_features.h"

namespace candor {

// Rows of int8 activations. Row r: codes at q + r * stride (stride = cols rounded up to 64), one scale per 32 codes at
// scale + r * stride / 32, and the sums of 16 codes each at sums + r * stride / 16. Codes beyond cols are zero.
struct QuantizedRows {
  int8_t* q = nullptr;
  float* scale = nullptr;
  int16_t* sums = nullptr;
  int64_t cols = 0;
  int64_t stride = 0;
};
inline constexpr int64_t QuantizedStride(int64_t cols) { return (cols + 63) / 64 * 64; }
// Bytes of the three arrays for `rows` rows, each array 64-byte aligned; and a view of them laid out in one buffer.
size_t QuantizedRowsBytes(int64_t rows, int64_t cols);
QuantizedRows QuantizedRowsIn(void* buffer, int64_t rows, int64_t cols);

struct MatMulOutput {
  PackedMatrix w;
  const float* bias = nullptr;      // [w.rows] or null
  const float* residual = nullptr;  // [rows, residual_stride] or null; may be y itself
  int64_t residual_stride = 0;
  float* y = nullptr;  // [rows, y_stride]
  int64_t y_stride = 0;
};

struct MatMulParams {
  static constexpr int kMaxOutputs = 3;
  MatMulOutput outputs[kMaxOutputs];
  int output_count = 0;
  const float* x = nullptr;  // [rows, x_stride]; read when a weight's ActivationFormat is kF32
  int64_t x_stride = 0;
  QuantizedRows xq;  // read when it is kInt8Per32
};

// The kernels of one ISA. A unit is a piece of the product that one thread computes alone (a run of row tiles times a
// block of x rows).
struct MatMulKernels {
  // Quantises rows [row_begin, row_end) of x ([rows, x_stride], out.cols values each) into `out`. scale = max|x| / 127
  // per 32, code = round to nearest even of x / scale; an all-zero group has scale 0. Non-finite input gives a
  // non-finite scale.
  void (*quantize)(const float* x, int64_t x_stride, const QuantizedRows& out, int64_t row_begin, int64_t row_end);
  int64_t (*units)(const MatMulParams& params, int64_t rows);
  void (*run)(const MatMulParams& params, int64_t rows, int64_t unit_begin, int64_t unit_end);
};
const MatMulKernels& CpuMatMul(CpuIsa isa);  // precondition: CpuSupports(isa)

// The formula in double over dequantised weights ([n, k], row-major), unrounded activations.
void ReferenceMatMul(const float* x, const float* w, const float* bias, const float* residual, int64_t rows, int64_t n,
                     int64_t k, double* y);

}  // namespace candor
