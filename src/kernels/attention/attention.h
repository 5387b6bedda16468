// attention: causal grouped-query attention of a step's rows over paged keys and values, and the write of new keys and
// values.
//   y[r, h] = sum_j softmax_j(scale * q[r, h] . k[j, h / group]) v[j, h / group],   j <= position[r], j > position[r] -
//   window
// Online softmax over blocks cut at absolute positions (multiples of 64): the numbers do not depend on chunk, window
// start, batch or thread.
#pragma once

#include <cstdint>

#include "kernels/attention/kv_layout.h"
#include "platform/cpu_features.h"

namespace candor {

// The widest key or value of a head. The tiles of a unit live on the stack, so a model beyond this must be refused when
// it is loaded.
inline constexpr int64_t kMaxAttentionHeadDim = 4096;

struct KvWriteParams {
  const float* k = nullptr;  // [rows, k_stride]: kv_heads * key_dim values each (already rotated)
  const float* v = nullptr;  // [rows, v_stride]
  int64_t k_stride = 0;
  int64_t v_stride = 0;
  KvLayerLayout layout;
  const KvRows* kv_rows = nullptr;
};

struct AttentionParams {
  const float* q = nullptr;  // [rows, q_stride]: heads * key_dim values each
  float* y = nullptr;        // [rows, y_stride]: heads * value_dim values each
  int64_t q_stride = 0;
  int64_t y_stride = 0;
  int32_t heads = 0;  // a multiple of layout.kv_heads
  float scale = 1.0f;
  float softcap = 0.0f;  // > 0: scores become softcap * tanh(score / softcap)
  int32_t window = 0;    // > 0: a row sees at most `window` positions, its own included
  int32_t threads = 2;   // that share the units: decides how finely they are cut, never the numbers
  KvLayerLayout layout;
  const KvRows* kv_rows = nullptr;
};

struct AttentionKernels {
  void (*write_kv)(const KvWriteParams& params, int64_t row_begin, int64_t row_end);
  int64_t (*units)(const AttentionParams& params, int64_t rows);
  void (*run)(const AttentionParams& params, int64_t rows, int64_t unit_begin, int64_t unit_end);
};
const AttentionKernels& CpuAttention(CpuIsa isa);

// One row and head in double. keys: [count, key_dim], values: [count, value_dim], only the visible positions.
void ReferenceAttention(const float* q, const float* keys, const float* values, int64_t count, int64_t key_dim,
                        int64_t value_dim, double scale, double softcap, double* y);

}  // namespace candor
