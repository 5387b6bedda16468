// The blocks of rows that attention works on, and its units. A block is the rows of one sequence inside 16 aligned
// positions, so that all its rows see the same last page. Plain code shared by every ISA, compiled for none of them.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace candor {

inline constexpr int64_t kBlockRows = 16;

// Rows [row, result) are the block that starts at `row`.
int64_t RowBlockEnd(const KvRows& kv_rows, int64_t rows, int64_t row);

// How a step is cut: every block into the same number of units, each `heads_per_unit` heads of one KV head. Blocks are
// numbered from the last row to the first, since later rows see more and the longest units should start first.
struct AttentionCut {
  int64_t blocks = 0;
  int64_t units_per_block = 0;
  int64_t heads_per_unit = 0;
};

// KV heads are split no further than params.threads needs: the heads of one share its keys and values.
AttentionCut CutAttention(const AttentionParams& params, int64_t rows);

int64_t AttentionUnits(const AttentionParams& params, int64_t rows);

}  // namespace candor
