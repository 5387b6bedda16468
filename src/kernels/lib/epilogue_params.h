// What the tails of matrix products read besides the product (see epilogue.slang); the last member of their parameters.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

// The tails that kernels are built with (AnyTail of epilogue.slang).
static const uint32_t kTailNone = 0;
static const uint32_t kTailBias = 1;
static const uint32_t kTailResidual = 2;
static const uint32_t kTailBiasResidual = 3;
static const uint32_t kTailSiluGate = 4;      // silu(gate) * v
static const uint32_t kTailGeluTanhGate = 5;  // gelu_tanh(gate) * v
static const uint32_t kTailGeluGate = 6;      // gelu(gate) * v
static const uint32_t kTailScaleSoftcap = 7;  // softcap * tanh(scale * v / softcap)
static const uint32_t kTailCount = 8;

// clang-format off
struct EpilogueParams {
  CANDOR_GPU_POINTER(float) bias;      // [n]
  CANDOR_GPU_POINTER(float) residual;  // [rows, residual_stride]; may be the output itself
  CANDOR_GPU_POINTER(float) gate;      // [rows, gate_stride]
  uint32_t residual_stride;
  uint32_t gate_stride;
  float scale;
  float softcap;
  uint32_t kind;  // kTail…
  uint32_t unused;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
