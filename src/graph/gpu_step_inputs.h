// GpuStepInputs: what changes from step to step (StepInputs) as bytes in a buffer that the GPU reads: row arrays, then
// the page tables. Written by the host, copied to the device at the start of each run.
#pragma once

#include <cstdint>

#include "device/gpu_device.h"
#include "graph/executable.h"

namespace candor {

// Where the parts are, for a recording of `rows` rows and `logits_rows` rows of logits: byte offsets.
struct GpuStepLayout {
  GpuStepLayout(int64_t rows, int64_t logits_rows, int64_t kv_groups, int64_t table_stride);

  int64_t rows;
  int64_t logits_rows;
  int64_t kv_groups;
  int64_t table_stride;  // pages of a sequence at the full context
  uint64_t token_ids = 0;
  uint64_t positions = 0;
  uint64_t sequences = 0;
  uint64_t logits_index = 0;
  uint64_t page_tables = 0;  // [kv_groups][rows][table_stride] addresses: a step has at most `rows` sequences
  uint64_t bytes = 0;

  uint64_t page_table(int64_t group) const {
    return page_tables + static_cast<uint64_t>(group * rows * table_stride) * sizeof(uint64_t);
  }
};

// Fills `out` (layout.bytes) from a step with at most the layout's rows; rows beyond the step's are marked as not there
// (-1). Sequences of a step are numbered from 0 without gaps.
void WriteGpuStepInputs(const StepInputs& inputs, const GpuStepLayout& layout, std::byte* out);

}  // namespace candor
