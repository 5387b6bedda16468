#include "graph/gpu_step_inputs.h"

#include <algorithm>
#include <cstring>

#include "kernels/attention/kv_layout.h"

namespace candor {
namespace {

constexpr uint64_t kAlignment = 16;

uint64_t Reserve(uint64_t& end, uint64_t bytes) {
  const uint64_t offset = end;
  end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

void WriteRows(const int32_t* values, int64_t count, int64_t room, int32_t filler, std::byte* out) {
  auto* rows = reinterpret_cast<int32_t*>(out);
  std::copy_n(values, count, rows);
  std::fill(rows + count, rows + room, filler);
}

}  // namespace

GpuStepLayout::GpuStepLayout(int64_t rows_in, int64_t logits_rows_in, int64_t kv_groups_in, int64_t table_stride_in)
    : rows(rows_in), logits_rows(logits_rows_in), kv_groups(kv_groups_in), table_stride(table_stride_in) {
  const uint64_t row_bytes = static_cast<uint64_t>(rows) * sizeof(int32_t);
  token_ids = Reserve(bytes, row_bytes);
  positions = Reserve(bytes, row_bytes);
  sequences = Reserve(bytes, row_bytes);
  logits_index = Reserve(bytes, static_cast<uint64_t>(logits_rows) * sizeof(int32_t));
  page_tables = Reserve(bytes, static_cast<uint64_t>(kv_groups * rows * table_stride) * sizeof(uint64_t));
}

void WriteGpuStepInputs(const StepInputs& inputs, const GpuStepLayout& layout, std::byte* out) {
  WriteRows(inputs.token_ids, inputs.rows, layout.rows, -1, out + layout.token_ids);
  WriteRows(inputs.positions, inputs.rows, layout.rows, -1, out + layout.positions);
  WriteRows(inputs.sequences, inputs.rows, layout.rows, 0, out + layout.sequences);
  WriteRows(inputs.logits_index, inputs.logits_rows, layout.logits_rows, -1, out + layout.logits_index);
  // Rows of a sequence are adjacent: its last row says how many pages it has.
  for (int64_t row = 0; row < inputs.rows; ++row) {
    const int32_t slot = inputs.sequences[row];
    if (row + 1 < inputs.rows && inputs.sequences[row + 1] == slot) continue;
    const auto pages = static_cast<size_t>(inputs.positions[row] / kPageTokens + 1);
    for (int64_t group = 0; group < layout.kv_groups; ++group) {
      const uint64_t offset =
          layout.page_table(group) + static_cast<uint64_t>(slot * layout.table_stride) * sizeof(uint64_t);
      static_assert(sizeof(std::byte*) == sizeof(uint64_t));
      std::memcpy(out + offset, inputs.page_tables[group][slot], pages * sizeof(uint64_t));
    }
  }
}

}  // namespace candor
