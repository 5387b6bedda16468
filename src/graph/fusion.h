// Fusion: from ops to steps. A step is what all threads do together before they meet: a pipeline of row-wise ops (each
// row passes through all of them on one thread), a group of matrix products that share their input, or the attention of
// one layer.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace candor {

enum class StepKind { kRows, kMatMul, kAttention };

struct FusedStep {
  StepKind kind = StepKind::kRows;
  RowSpace rows = RowSpace::kAll;
  std::vector<int32_t> ops;  // indices into the fused graph's ops, in order
  std::vector<ValueId>
      quantize;  // kRows: values that are quantised to int8 after the ops, for the products that read them
};

struct FusedGraph {
  Graph graph;  // residual additions folded into the products before them
  std::vector<FusedStep> steps;
};

FusedGraph Fuse(Graph graph);

}  // namespace candor
