// Parameters of the GPU kernels of matmul, shared by C++ and Slang.
#pragma once

#include "kernels/lib/epilogue_params.h"
#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

static const uint32_t kGemvThreads = 128;
static const uint32_t kGemmThreads = 256;
static const uint32_t kDecodeThreads = 256;
static const uint32_t kMaxDecodeWidth = 16384;  // k of the decode kernels: a row's codes fit in shared memory
static const uint32_t kGemmTile = 64;           // rows and columns of a workgroup's output

// y[r, n] = tail(sum_k x[r, k] * w[n, k]). x and y 16-byte aligned, strides in floats; x_stride is a multiple of 4 and
// at least k rounded up to 4.
// clang-format off
struct MatMulGpuParams {
  CANDOR_GPU_POINTER(uint8_t) w;    // [n] rows of row_bytes (lib/weights.slang)
  CANDOR_GPU_POINTER(float) x;      // [rows, x_stride]
  CANDOR_GPU_POINTER(uint4) codes;  // instead of x: [rows, code_stride] int8, as quantize_rows writes them
  CANDOR_GPU_POINTER(float2) scales;  // [rows, code_stride / 32]: scale, scale * sum of the codes
  CANDOR_GPU_POINTER(float) y;      // [rows, y_stride]
  uint32_t rows;
  uint32_t n;
  uint32_t k;
  uint32_t row_bytes;
  uint32_t x_stride;
  uint32_t code_stride;  // k rounded up to 64
  uint32_t y_stride;
  uint32_t lanes;  // that share one output: a power of two, at most the subgroup's size
  EpilogueParams tail;
};

// One row through up to three matrices of one type and width that share it; 128 bytes. x is normed if there is a norm,
// then quantised as quantize_rows does it. `decode_gated`: matrices 0 (gate) and 1 (up) become one y0.
struct DecodeGpuParams {
  CANDOR_GPU_POINTER(float) x;         // [k]
  CANDOR_GPU_POINTER(float) norm;      // [k]: weights of rms_norm; 0: no norm
  CANDOR_GPU_POINTER(float) residual;  // [n0], added to y0; 0: none
  CANDOR_GPU_POINTER(uint8_t) w0;      // [n0] rows of row_bytes
  CANDOR_GPU_POINTER(uint8_t) w1;
  CANDOR_GPU_POINTER(uint8_t) w2;
  CANDOR_GPU_POINTER(float) y0;  // [n0]
  CANDOR_GPU_POINTER(float) y1;
  CANDOR_GPU_POINTER(float) y2;
  CANDOR_GPU_POINTER(float) bias0;  // [n0]; 0: none
  CANDOR_GPU_POINTER(float) bias1;
  CANDOR_GPU_POINTER(float) bias2;
  uint32_t n0;
  uint32_t n1;  // 0: no such matrix
  uint32_t n2;
  uint32_t k;
  uint32_t row_bytes;
  float eps;
  uint32_t lanes_and_passes;  // lanes as above | columns that each lane group does << 8
  uint32_t activation;        // decode_gated: kTailSiluGate, kTailGeluTanhGate or kTailGeluGate
};

struct QuantizeRowsGpuParams {
  CANDOR_GPU_POINTER(float) x;  // [rows, x_stride], as in a product
  CANDOR_GPU_POINTER(uint) codes;
  CANDOR_GPU_POINTER(float2) scales;
  uint32_t rows;
  uint32_t k;
  uint32_t x_stride;
  uint32_t code_stride;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
