// rope: rotary position embedding. A table of cosines and sines is made once per step and rotary kind (rope_table),
// then every head of q and k is rotated in place (rope). Source: Su et al., "RoFormer", 2021.
#pragma once

#include <cstdint>

#include "platform/cpu_features.h"

namespace candor {

enum class RopePairing {
  kHalf,      // pairs (i, i + n/2): "neox" files (qwen, gemma)
  kAdjacent,  // pairs (2i, 2i + 1): "norm" files (llama)
};

// table[r, i] = cos(position[r] * inverse_frequency[i]) * magnitude, table[r, n/2 + i] = the sine; i < n/2. Angles are
// formed and reduced in double. The result depends on the position alone.
struct RopeTableParams {
  const int32_t* const* position = nullptr;   // points at the step's position array pointer
  const double* inverse_frequency = nullptr;  // [n_rot / 2]
  float magnitude = 1.0f;
  int32_t n_rot = 0;
  float* table = nullptr;  // [rows, n_rot]
};

struct RopeParams {
  float* x =
      nullptr;  // [rows, x_stride]: heads of head_dim values, rotated in place; values beyond n_rot in a head stay
  int64_t x_stride = 0;
  int32_t heads = 0;
  int32_t head_dim = 0;
  int32_t n_rot = 0;  // <= head_dim, even
  RopePairing pairing = RopePairing::kHalf;
  const float* table = nullptr;  // [rows, n_rot]
};

struct RopeKernels {
  void (*table)(const RopeTableParams& params, int64_t row_begin, int64_t row_end);
  void (*rotate)(const RopeParams& params, int64_t row_begin, int64_t row_end);
};
const RopeKernels& CpuRope(CpuIsa isa);

// One head in double.
void ReferenceRope(const float* x, int64_t position, const double* inverse_frequency, double magnitude,
                   int32_t head_dim, int32_t n_rot, RopePairing pairing, double* y);

}  // namespace candor
