// CpuExecutable: a plan bound to packed weights, scratch memory and the kernels of one ISA. All threads of the team
// walk the steps together; inside a step units of work are claimed by an atomic counter.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "graph/executable.h"
#include "graph/plan.h"
#include "kernels/attention/kv_layout.h"
#include "kernels/matmul/packed_matrix.h"
#include "platform/cpu_features.h"
#include "platform/thread_pool.h"

namespace candor {

// A weight in memory: a packed matrix or a vector of f32.
struct BoundWeight {
  PackedMatrix matrix;
  const float* vector = nullptr;
};

// Where a layer's keys and values are: its group of pages and its place inside them.
struct KvBinding {
  int32_t group = 0;
  KvLayerLayout layout;
};

// `weights` by WeightId, `kv` by layer of the graph; both are copied (the bytes they point at are not).
// ResourceExhausted when the scratch memory is not to be had.
Result<std::unique_ptr<Executable>> MakeCpuExecutable(Plan plan, const std::vector<BoundWeight>& weights,
                                                      const std::vector<KvBinding>& kv, int32_t kv_groups, CpuIsa isa,
                                                      ThreadPool& threads);

}  // namespace candor
