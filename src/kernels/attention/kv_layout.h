// Where keys and values live: pages of 64 tokens. Inside a page every layer of the group has its keys, then its values;
// per KV head the keys are stored transposed, [key_dim][64 tokens], and the values as [64 tokens][value_dim], so that
// both products of attention read whole vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace candor {

inline constexpr int64_t kPageTokens = 64;

// One layer's place inside every page of its group. Offsets and strides in bytes, multiples of 64.
struct KvLayerLayout {
  DType dtype = DType::kF16;  // kF16 or kF32
  int32_t kv_heads = 0;
  int32_t key_dim = 0;
  int32_t value_dim = 0;
  size_t key_offset = 0;  // of head 0's keys from the page's start
  size_t value_offset = 0;
  size_t key_head_stride = 0;  // key_dim * 64 * element size, rounded up to 64
  size_t value_head_stride = 0;
};

// The rows of one step. Row r belongs to sequence sequence[r] at absolute position position[r]; rows of one sequence
// are adjacent and their positions ascend by one. page_table[s] lists the pages of sequence slot s: page i holds
// positions [64 i, 64 i + 64). Pages that a sliding window has left behind may be null.
struct KvRows {
  const int32_t* position = nullptr;
  const int32_t* sequence = nullptr;
  std::byte* const* const* page_table = nullptr;
};

}  // namespace candor
