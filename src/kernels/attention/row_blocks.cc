#include "kernels/attention/row_blocks.h"

#include <algorithm>

#include "base/check.h"

namespace candor {
namespace {

int64_t CountBlocks(const KvRows& kv_rows, int64_t rows) {
  int64_t blocks = 0;
  for (int64_t row = 0; row < rows; row = RowBlockEnd(kv_rows, rows, row)) ++blocks;
  return blocks;
}

}  // namespace

int64_t RowBlockEnd(const KvRows& kv_rows, int64_t rows, int64_t row) {
  const int32_t sequence = kv_rows.sequence[row];
  const int64_t longest = std::min(rows, row + kBlockRows - kv_rows.position[row] % kBlockRows);
  // Rows of one sequence are adjacent, so that a whole block is seen at its last row.
  if (kv_rows.sequence[longest - 1] == sequence) return longest;
  int64_t end = row + 1;
  while (kv_rows.sequence[end] == sequence) ++end;
  return end;
}

AttentionCut CutAttention(const AttentionParams& params, int64_t rows) {
  const int64_t kv_heads = params.layout.kv_heads;
  const int64_t group = params.heads / kv_heads;
  const int64_t blocks = CountBlocks(*params.kv_rows, rows);
  // Units of a prompt differ in length, so that each thread should get several.
  const int64_t wanted = blocks < rows ? 4 * int64_t{params.threads} : params.threads;
  int64_t parts = 1;
  while (parts < group && (group % parts != 0 || blocks * kv_heads * parts < wanted)) ++parts;
  return {blocks, kv_heads * parts, group / parts};
}

int64_t AttentionUnits(const AttentionParams& params, int64_t rows) {
  const KvLayerLayout& layout = params.layout;
  CANDOR_CHECK(layout.key_dim <= kMaxAttentionHeadDim && layout.value_dim <= kMaxAttentionHeadDim,
               "attention: head too wide");
  CANDOR_CHECK(layout.dtype == DType::kF16 || layout.dtype == DType::kF32, "attention: KV type");
  CANDOR_CHECK(layout.kv_heads > 0 && params.heads % layout.kv_heads == 0,
               "attention: heads are no multiple of KV heads");
  const AttentionCut cut = CutAttention(params, rows);
  return cut.blocks * cut.units_per_block;
}

}  // namespace candor
