// The blocks of rows that attention works on, and its units. A block is the rows of one sequence inside 16 aligned positions, so that all
// its rows see the same last page. Plain code shared by every ISA, compiled for none of them.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace candor {

inline constexpr int64_t kBlockRows = 16;

// Limits on a model's shape: the score and output tiles of a unit live on the stack.
inline constexpr int64_t kMaxAttentionHeadDim = 4096;

// Rows [row, result) are the block that starts at `row`.
int64_t RowBlockEnd(const KvRows& kv_rows, int64_t rows, int64_t row);

// Units of each block: its KV heads when there are blocks enough for many threads, else its heads. Neighbouring units of a block that
// fall into one run() share their keys and values again, so whole ranges should be handed out where possible.
int64_t UnitsPerBlock(const AttentionParams& params, int64_t rows);

int64_t AttentionUnits(const AttentionParams& params, int64_t rows);

}  // namespace candor
