// ModelWeights: every weight of a graph in memory, packed for one ISA. Filled tensor by tensor, all threads on one
// tensor, by reads of the file (not through the mapping: a file that shrinks gives an error, and the source never stays
// in memory).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "formats/model_file.h"
#include "graph/cpu_executable.h"
#include "graph/graph.h"
#include "platform/memory.h"
#include "platform/thread_pool.h"

namespace candor {

struct ModelWeights {
  AlignedBuffer arena;
  std::vector<BoundWeight> weights;  // by WeightId
};

// Bytes that the arena of `graph` takes.
Result<uint64_t> WeightArenaBytes(const Graph& graph, CpuIsa isa);

// ResourceExhausted (no memory), DataLoss (the file changed), Cancelled (progress returned false).
Result<std::unique_ptr<ModelWeights>> LoadWeights(const ModelFile& file, const Graph& graph, CpuIsa isa,
                                                  ThreadPool& threads,
                                                  const std::function<bool(uint64_t done, uint64_t total)>& progress);

}  // namespace candor
