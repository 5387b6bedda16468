// Launches of attention and kv_write on a GPU. Pages lie in device memory in the layout of kv_layout.h.
#pragma once

#include "base/status.h"
#include "kernels/attention/gpu_params.h"
#include "kernels/attention/kv_layout.h"
#include "kernels/lib/gpu_launch.h"
#include "kernels/rope/rope.h"

namespace candor {

// Copies the layout into the parameters of either kernel.
void SetGpuKvLayout(const KvLayerLayout& layout, KvWriteGpuParams& params);
void SetGpuKvLayout(const KvLayerLayout& layout, AttentionGpuParams& params);
void SetGpuKvLayout(const KvLayerLayout& layout, PrepareHeadsGpuParams& params);

GpuLaunch GpuKvWrite(DType kv_type, const KvWriteGpuParams& params, uint32_t rows);

// The widest head that it takes; params.key_dim and value_dim beyond it need the ops one by one.
inline constexpr uint32_t kMaxPreparedHeadDim = 1024;
GpuLaunch GpuPrepareHeads(DType kv_type, const PrepareHeadsGpuParams& params, uint32_t rows, RopePairing pairing);

// Up to this many rows each is a tile of its own, its pages split over workgroups: its numbers do not depend on the
// others, nor on how many there are. More rows share tiles.
inline constexpr uint32_t kMaxDecodeAttentionRows = 16;
inline constexpr uint32_t kDecodeSplits = 16;

// The splits that params.parts must have room for: [rows, heads, splits, value_dim + 2] floats where it is above 1.
uint32_t GpuAttentionSplits(uint32_t rows);

// Sets splits and tiles of the parameters. Unimplemented for keys that are too wide (names the limit).
Result<GpuLaunch> GpuAttention(DType kv_type, AttentionGpuParams& params);
// Runs after GpuAttention with its parameters if their splits are above 1.
GpuLaunch GpuAttentionCombine(const AttentionGpuParams& params);

}  // namespace candor
