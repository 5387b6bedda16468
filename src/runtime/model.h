// Model: a loaded model file, its tokenizer, template and weights ready for one device. Const and shared; thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "device/device.h"
#include "formats/model_file.h"
#include "graph/gpu_command_list.h"
#include "graph/plan.h"
#include "models/model_config.h"
#include "platform/cpu_features.h"
#include "platform/thread_pool.h"
#include "runtime/gpu_model.h"
#include "runtime/kv_cache.h"
#include "runtime/weights.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace candor {

enum class KvType { kAuto, kF32, kF16 };  // auto: f16 for a file with quantised matrices, else f32

// How a GPU's matrix products see activations. kAuto: as int8 where the weights are quantised, which is what the CPU
// does too; kF32: never rounded.
enum class GpuPrecision { kAuto, kF32 };
std::string_view GpuPrecisionName(GpuPrecision precision);  // "auto", "f32"

struct LoadOptions {
  std::string device = "auto";  // as ParseDeviceSelector reads it; a GPU needs chosen_device
  // A device that a probe has passed (src/probe); takes the place of `device`.
  std::optional<ChosenDevice> chosen_device = std::nullopt;
  bool allow_software_adapter = false;
  GpuPrecision gpu_precision = GpuPrecision::kAuto;
  std::optional<CpuIsa> cpu_isa = std::nullopt;  // the best one this machine has
  int threads = 0;                               // 0: all cores this process may use
  uint32_t context = 0;                          // tokens; 0: min(trained, 4096). More than trained is InvalidArgument
  KvType kv_type = KvType::kAuto;
  uint32_t prefill_chunk = 512;  // most rows in one step
  // Called from the loading thread with bytes done and total; returning false cancels the load (Cancelled).
  std::function<bool(uint64_t done, uint64_t total)> progress = nullptr;
};

// What loading and running will need, known before anything is allocated.
struct MemoryEstimate {
  uint64_t weights = 0;  // packed weights; with a GPU, this, the cache and the scratch are on the device
  uint64_t kv_per_token = 0;
  uint64_t kv_full = 0;    // at the full context
  uint64_t scratch = 0;    // activations of one step
  uint64_t tokenizer = 0;  // rough
  uint64_t total() const { return weights + kv_full + scratch + tokenizer; }
};

class Model {
 public:
  // Opens, checks, estimates memory against what the machine or the GPU has (ResourceExhausted with both figures),
  // packs the weights. `phases` gets: open, verify, device (a GPU's own start, beside the two before), tokenizer
  // (beside weights), weights.
  static Result<std::shared_ptr<const Model>> Load(const std::string& path, const LoadOptions& options,
                                                   PhaseTimer* phases);
  ~Model();

  const ModelFile& file() const { return *file_; }
  const ModelConfig& config() const { return config_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const ChatTemplate* chat_template() const { return chat_template_.get(); }  // null: a base model
  const LoadOptions& options() const { return options_; }                     // with defaults resolved
  const ModelWeights& weights() const { return *weights_; }                   // of a model on the CPU
  GpuModel* gpu() const { return gpu_.get(); }                                // null for one on the CPU
  ThreadPool& threads() const { return *threads_; }
  const MemoryEstimate& memory() const { return memory_; }
  const Graph& graph() const { return graph_; }
  const KvGeometry& kv_geometry() const { return kv_geometry_; }
  const ChosenDevice& device() const { return device_; }
  CpuIsa cpu_isa() const { return *options_.cpu_isa; }

 private:
  Model();
  Status LoadAll(const std::string& path, const LoadOptions& options, PhaseTimer* phases);
  Status Resolve(const LoadOptions& options);
  Status EstimateGpuMemory();
  Status CheckMemory() const;
  Status LoadTheWeights();
  std::shared_ptr<const ModelFile> file_;
  ModelConfig config_;
  Graph graph_;
  KvGeometry kv_geometry_;
  ChosenDevice device_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<const ChatTemplate> chat_template_;
  LoadOptions options_;
  std::unique_ptr<ModelWeights> weights_;
  std::unique_ptr<GpuModel> gpu_;
  std::unique_ptr<ThreadPool> threads_;
  MemoryEstimate memory_;
};

// The estimate alone, from metadata and the tensor directory; nothing is loaded.
Result<MemoryEstimate> EstimateMemory(const ModelFile& file, const LoadOptions& options);
// How a model's parts are bound to its GPU; only for a model that has one.
GpuModelBinding GpuBindingOf(const Model& model);
// The plan that an engine of these options will run; nothing is loaded.
Result<Plan> PlanOf(const ModelFile& file, const LoadOptions& options);

}  // namespace candor
