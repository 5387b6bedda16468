// Plan: a fused graph with a place in scratch memory for every value. Made once per model and row limit, replayed every
// step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/fusion.h"

namespace candor {

struct Plan {
  Graph graph;
  std::vector<FusedStep> steps;
  int64_t max_rows = 0;
  // Byte offsets in scratch memory, by value; kUnplaced for a value that is not kept in that form.
  static constexpr uint64_t kUnplaced = ~uint64_t{0};
  std::vector<uint64_t> float_offset;      // [max_rows, width] f32
  std::vector<uint64_t> quantized_offset;  // QuantizedRows of max_rows rows
  uint64_t scratch_bytes = 0;

  std::string ToText() const;  // one line a step: `candor inspect --plan`
};

// Values whose lives do not overlap share memory. The logits come last, so that the memory of rows nobody asks for is
// never touched.
Plan MakePlan(Graph graph, int64_t max_rows);

}  // namespace candor
