// Parameters of the GPU kernels of attention and kv_write, shared by C++ and Slang. Pages are those of kv_layout.h; the
// table holds their device addresses.
#pragma once

#include "kernels/lib/gpu_types.h"

CANDOR_GPU_NAMESPACE_BEGIN

static const uint32_t kAttentionThreads = 128;
static const uint32_t kDecodeAttentionThreads = 256;  // 64 tokens of four heads
static const uint32_t kDecodeAttentionHeads = 4;
static const uint32_t kDecodeAttentionDim = 512;     // of keys and of values, at most
static const uint32_t kAttentionQueryFloats = 4096;  // queries of a tile times key_dim fit in this many

// clang-format off
struct KvWriteGpuParams {
  CANDOR_GPU_POINTER(float) k;              // [rows, k_stride]: kv_heads * key_dim values each
  CANDOR_GPU_POINTER(float) v;              // [rows, v_stride]
  CANDOR_GPU_POINTER(int32_t) position;     // [rows]; negative: a row that is not there
  CANDOR_GPU_POINTER(int32_t) sequence;     // [rows]
  CANDOR_GPU_POINTER(uint64_t) page_table;  // [sequences, table_stride]: page addresses
  uint32_t k_stride;
  uint32_t v_stride;
  uint32_t table_stride;
  uint32_t kv_heads;
  uint32_t key_dim;
  uint32_t value_dim;
  uint32_t key_offset;  // bytes, as in KvLayerLayout
  uint32_t value_offset;
  uint32_t key_head_stride;
  uint32_t value_head_stride;
};

// What attention needs of new rows, in one launch: queries normed and rotated, keys normed, rotated and put into their
// pages, values put into theirs. 128 bytes.
struct PrepareHeadsGpuParams {
  CANDOR_GPU_POINTER(float) q;              // [rows, heads * key_dim]
  CANDOR_GPU_POINTER(float) prepared_q;     // the same; may be q
  CANDOR_GPU_POINTER(float) k;              // [rows, kv_heads * key_dim]
  CANDOR_GPU_POINTER(float) v;              // [rows, kv_heads * value_dim]
  CANDOR_GPU_POINTER(float) q_norm;         // [key_dim]; 0: no norm
  CANDOR_GPU_POINTER(float) k_norm;         // [key_dim]; 0: no norm
  CANDOR_GPU_POINTER(float) table;          // [positions, n_rot] as in RopeGpuParams; 0: no rotation
  CANDOR_GPU_POINTER(int32_t) position;     // [rows]; negative: a row that is not there
  CANDOR_GPU_POINTER(int32_t) sequence;     // [rows]
  CANDOR_GPU_POINTER(uint64_t) page_table;  // [sequences, table_stride]
  uint32_t table_stride;
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t key_dim;
  uint32_t value_dim;
  uint32_t key_offset;
  uint32_t value_offset;
  uint32_t key_head_stride;
  uint32_t value_head_stride;
  uint32_t n_rot;
  float q_eps;
  float k_eps;
};

// A tile is up to kQueries (row, head) pairs of tile_rows adjacent rows and tile_heads heads of one KV head.
struct AttentionGpuParams {
  CANDOR_GPU_POINTER(float) q;              // [rows, q_stride]
  CANDOR_GPU_POINTER(float) y;              // [rows, y_stride]
  CANDOR_GPU_POINTER(float) parts;          // [rows, heads, splits, value_dim + 2], read and written if splits > 1
  CANDOR_GPU_POINTER(int32_t) position;     // [rows]; negative: a row that is not there, its y stays
  CANDOR_GPU_POINTER(int32_t) sequence;     // [rows]
  CANDOR_GPU_POINTER(uint64_t) page_table;  // [sequences, table_stride]
  uint32_t rows;
  uint32_t q_stride;
  uint32_t y_stride;
  uint32_t table_stride;
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t key_dim;
  uint32_t value_dim;
  uint32_t key_offset;
  uint32_t value_offset;
  uint32_t key_head_stride;
  uint32_t value_head_stride;
  uint32_t window;  // 0: sees everything
  uint32_t splits;  // of the visible pages of a row
  float scale;
  float softcap;  // 0: none
  uint32_t tile_rows;
  uint32_t tile_heads;
};
// clang-format on

CANDOR_GPU_NAMESPACE_END
