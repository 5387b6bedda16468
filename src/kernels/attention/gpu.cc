#include "kernels/attention/gpu.h"

#include <fmt/format.h>

#include <algorithm>

namespace candor {
namespace {

template <class Params>
void SetLayout(const KvLayerLayout& layout, Params& params) {
  params.kv_heads = static_cast<uint32_t>(layout.kv_heads);
  params.key_dim = static_cast<uint32_t>(layout.key_dim);
  params.value_dim = static_cast<uint32_t>(layout.value_dim);
  params.key_offset = static_cast<uint32_t>(layout.key_offset);
  params.value_offset = static_cast<uint32_t>(layout.value_offset);
  params.key_head_stride = static_cast<uint32_t>(layout.key_head_stride);
  params.value_head_stride = static_cast<uint32_t>(layout.value_head_stride);
}

const char* TypeName(DType kv_type) { return kv_type == DType::kF16 ? "f16" : "f32"; }

// Columns of values that a workgroup of the variant takes; wider heads take several workgroups. f32 pages are for
// comparing numbers, not for speed: one variant does.
uint32_t ValueColumns(DType kv_type, uint32_t value_dim, uint32_t queries) {
  if (kv_type == DType::kF32 || queries == 4) return 256;
  if (value_dim <= 64) return 64;
  return value_dim <= 128 ? 128 : 256;
}

GpuLaunch DecodeAttention(DType kv_type, AttentionGpuParams& params) {
  const uint32_t per_kv_head = params.heads / params.kv_heads;
  params.tile_heads = std::min(per_kv_head, kDecodeAttentionHeads);
  params.tile_rows = 1;
  const GpuGrid grid{params.kv_heads * DivideUp(per_kv_head, params.tile_heads), params.rows, params.splits};
  return MakeGpuLaunch("attention_decode", fmt::format("attention_decode_{}", TypeName(kv_type)), grid, params);
}

}  // namespace

void SetGpuKvLayout(const KvLayerLayout& layout, KvWriteGpuParams& params) { SetLayout(layout, params); }
void SetGpuKvLayout(const KvLayerLayout& layout, AttentionGpuParams& params) { SetLayout(layout, params); }
void SetGpuKvLayout(const KvLayerLayout& layout, PrepareHeadsGpuParams& params) { SetLayout(layout, params); }

GpuLaunch GpuKvWrite(DType kv_type, const KvWriteGpuParams& params, uint32_t rows) {
  const uint32_t width = params.kv_heads * (params.key_dim + params.value_dim);
  return MakeGpuLaunch("kv_write", fmt::format("kv_write_{}", TypeName(kv_type)), ElementGrid(width, rows), params);
}

GpuLaunch GpuPrepareHeads(DType kv_type, const PrepareHeadsGpuParams& params, uint32_t rows, RopePairing pairing) {
  const GpuGrid grid{params.heads + 2 * params.kv_heads, rows, 1};
  return MakeGpuLaunch(
      "prepare_heads",
      fmt::format("prepare_heads_{}_{}", TypeName(kv_type), pairing == RopePairing::kHalf ? "half" : "adjacent"), grid,
      params);
}

uint32_t GpuAttentionSplits(uint32_t rows) { return rows <= kMaxDecodeAttentionRows ? kDecodeSplits : 1; }

Result<GpuLaunch> GpuAttention(DType kv_type, AttentionGpuParams& params) {
  constexpr uint32_t kMaxKeyDim = kAttentionQueryFloats / 4;
  if (params.key_dim > kMaxKeyDim) {
    return UnimplementedError("attention on a GPU: expected keys of at most {} values a head, got {}; run on the CPU",
                              kMaxKeyDim, params.key_dim);
  }
  const uint32_t per_kv_head = params.heads / params.kv_heads;
  params.splits = GpuAttentionSplits(params.rows);
  if (params.splits > 1 && params.key_dim <= kDecodeAttentionDim && params.value_dim <= kDecodeAttentionDim)
    return DecodeAttention(kv_type, params);
  const uint32_t queries = params.splits > 1 || params.key_dim * 16 > kAttentionQueryFloats ? 4 : 16;
  params.tile_heads = std::min(per_kv_head, queries);
  params.tile_rows = params.splits > 1 ? 1 : queries / params.tile_heads;
  const uint32_t columns = ValueColumns(kv_type, params.value_dim, queries);
  const GpuGrid grid{params.kv_heads * DivideUp(per_kv_head, params.tile_heads),
                     DivideUp(params.rows, params.tile_rows), params.splits * DivideUp(params.value_dim, columns)};
  return MakeGpuLaunch("attention", fmt::format("attention_{}_q{}_v{}", TypeName(kv_type), queries, columns), grid,
                       params);
}

GpuLaunch GpuAttentionCombine(const AttentionGpuParams& params) {
  return MakeGpuLaunch("attention", "attention_combine", {params.heads, params.rows, 1}, params);
}

}  // namespace candor
