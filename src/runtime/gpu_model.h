// GpuModel: a model's weights on an open GPU, in the file's own layout, with the kernels that run on them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/gpu_device.h"
#include "formats/model_file.h"
#include "graph/graph.h"
#include "kernels/lib/gpu_program.h"
#include "platform/thread_pool.h"

namespace candor {

// Members are given back last to first. `mutex` is held by whoever works with the device: engines of one model share
// it.
struct GpuModel {
  std::unique_ptr<GpuDevice> device;
  std::unique_ptr<GpuProgram> program;
  std::vector<std::unique_ptr<GpuBuffer>> arenas;
  std::vector<DeviceAddress> weights;  // by WeightId
  uint64_t weight_bytes = 0;           // of the arenas
  std::mutex mutex;
};

// Bytes of device memory that the weights of `graph` take.
uint64_t GpuWeightBytes(const Graph& graph);

// Copies every weight to the device: read from the file by all threads into a staging buffer, a piece at a time.
// Unimplemented for a weight type without kernels, before anything is allocated. ResourceExhausted, DataLoss (the file
// changed), Cancelled (progress returned false), Unavailable (the device was lost).
Status LoadGpuWeights(const ModelFile& file, const Graph& graph, ThreadPool& threads,
                      const std::function<bool(uint64_t done, uint64_t total)>& progress, GpuModel& model);

}  // namespace candor
