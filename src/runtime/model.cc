#include "runtime/model.h"

#include <algorithm>
#include <thread>

#include "base/exceptions.h"
#include "graph/gpu_executable.h"
#include "models/family.h"
#include "platform/memory.h"

namespace candor {
namespace {

constexpr uint32_t kDefaultContext = 4096;
constexpr int kMaxThreads = 1024;
constexpr uint32_t kMaxPrefillChunk = 8192;
// Rough cost of a vocabulary entry in memory: its hash slot, its score and its share of the merges.
constexpr uint64_t kTokenizerBytesPerToken = 128;

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

Result<uint32_t> ResolveContext(uint32_t asked, const ModelConfig& config) {
  if (asked == 0) return std::min(config.trained_context, kDefaultContext);
  if (asked > config.trained_context) {
    return InvalidArgumentError(
        "context: expected at most the {} tokens that the model was trained for, got {}; ask for less",
        config.trained_context, asked);
  }
  return asked;
}

KvType ResolveKvType(KvType asked, const Graph& graph) {
  if (asked != KvType::kAuto) return asked;
  const bool quantized = std::any_of(graph.weights.begin(), graph.weights.end(),
                                     [](const Weight& w) { return w.is_matrix() && Traits(w.dtype).quantized; });
  return quantized ? KvType::kF16 : KvType::kF32;
}

DType KvDType(KvType type) { return type == KvType::kF32 ? DType::kF32 : DType::kF16; }

Result<CpuIsa> ResolveIsa(std::optional<CpuIsa> asked) {
  if (!asked.has_value()) return BestCpuIsa();
  if (!CpuSupports(*asked)) {
    return UnavailableError("cpu isa: '{}' cannot run on this processor ({}); the best it has is '{}'",
                            CpuIsaName(*asked), CpuModelName(), CpuIsaName(BestCpuIsa()));
  }
  return *asked;
}

// Options with every default filled in, and every value checked.
Result<LoadOptions> ResolveOptions(const LoadOptions& options, const ModelConfig& config, const Graph& graph) {
  LoadOptions resolved = options;
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return InvalidArgumentError("threads: expected 0 (all cores) to {}, got {}", kMaxThreads, options.threads);
  }
  if (options.prefill_chunk == 0 || options.prefill_chunk > kMaxPrefillChunk) {
    return InvalidArgumentError("prefill chunk: expected 1 to {}, got {}", kMaxPrefillChunk, options.prefill_chunk);
  }
  if (options.threads == 0) resolved.threads = CpuCoreCount();
  CANDOR_ASSIGN_OR_RETURN(resolved.cpu_isa, ResolveIsa(options.cpu_isa));
  CANDOR_ASSIGN_OR_RETURN(resolved.context, ResolveContext(options.context, config));
  resolved.kv_type = ResolveKvType(options.kv_type, graph);
  resolved.prefill_chunk = std::min(options.prefill_chunk, resolved.context);
  return resolved;
}

Result<MemoryEstimate> Estimate(const LoadOptions& options, const ModelConfig& config, const Graph& graph) {
  MemoryEstimate estimate;
  CANDOR_ASSIGN_OR_RETURN(estimate.weights, WeightArenaBytes(graph, *options.cpu_isa));
  const KvGeometry geometry = MakeKvGeometry(graph.kv_layers, KvDType(options.kv_type));
  estimate.kv_full = geometry.BytesFor(options.context);
  for (const KvGeometry::Group& group : geometry.groups) estimate.kv_per_token += group.page_bytes / kPageTokens;
  const Plan plan = MakePlan(graph, options.prefill_chunk);
  // The logits of rows that nobody asks for are never touched.
  estimate.scratch = plan.scratch_bytes - uint64_t{options.prefill_chunk - 1} * config.vocabulary * sizeof(float);
  estimate.tokenizer = uint64_t{config.vocabulary} * kTokenizerBytesPerToken;
  return estimate;
}

// The tokenizer and template of a file, made on a thread of their own while the weights load.
// What the metadata and the tensor directory alone say.
struct Blueprint {
  ModelConfig config;
  Graph graph;
  LoadOptions options;
};

Result<Blueprint> ReadBlueprint(const ModelFile& file, const LoadOptions& options) {
  Blueprint blueprint;
  CANDOR_ASSIGN_OR_RETURN(const Family* family, FindFamily(file));
  CANDOR_ASSIGN_OR_RETURN(blueprint.config, family->read_config(file));
  CANDOR_ASSIGN_OR_RETURN(blueprint.graph, family->build_graph(file, blueprint.config));
  CANDOR_ASSIGN_OR_RETURN(blueprint.options, ResolveOptions(options, blueprint.config, blueprint.graph));
  return blueprint;
}

struct TextParts {
  std::unique_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<const ChatTemplate> chat_template;
  Status status;
  double milliseconds = 0;
};

Status LoadTokenizerAndTemplate(const std::shared_ptr<const ModelFile>& file, TextParts& parts) {
  CANDOR_ASSIGN_OR_RETURN(parts.tokenizer, Tokenizer::Load(file));
  Result<std::unique_ptr<const ChatTemplate>> chat_template = ChatTemplate::Load(file, *parts.tokenizer);
  if (chat_template.ok()) {
    parts.chat_template = std::move(*chat_template);
  } else if (chat_template.status().code() != StatusCode::kNotFound) {
    return chat_template.status();
  }
  return OkStatus();
}

// The body of a thread.
void LoadText(const std::shared_ptr<const ModelFile>& file, TextParts& parts) {
  const Stopwatch watch;
  try {
    parts.status = LoadTokenizerAndTemplate(file, parts);
  } catch (...) {
    parts.status = StatusOfException("tokenizer", std::current_exception());
  }
  parts.milliseconds = watch.Milliseconds();
}

Status CheckVocabulary(const ModelFile& file, const ModelConfig& config, const Tokenizer& tokenizer) {
  if (tokenizer.vocabulary_size() <= static_cast<int64_t>(config.vocabulary)) return OkStatus();
  return DataLossError(
      "{}: expected at most as many tokens as rows of token_embd.weight ({}), got {}; the file is damaged", file.path(),
      config.vocabulary, tokenizer.vocabulary_size());
}

}  // namespace

Model::Model() = default;
Model::~Model() = default;

std::string_view GpuPrecisionName(GpuPrecision precision) { return precision == GpuPrecision::kF32 ? "f32" : "auto"; }

GpuModelBinding GpuBindingOf(const Model& model) {
  GpuModelBinding binding;
  binding.weights = model.gpu()->weights;
  binding.kv = model.kv_geometry().layers;
  binding.kv_groups = static_cast<int32_t>(model.kv_geometry().groups.size());
  binding.kv_type = KvDType(model.options().kv_type);
  binding.context = model.options().context;
  binding.int8_activations =
      model.options().gpu_precision == GpuPrecision::kAuto && model.gpu()->program->has_int8_products();
  return binding;
}

Status Model::Resolve(const LoadOptions& options) {
  CANDOR_ASSIGN_OR_RETURN(Blueprint blueprint, ReadBlueprint(*file_, options));
  config_ = std::move(blueprint.config);
  graph_ = std::move(blueprint.graph);
  options_ = std::move(blueprint.options);
  CANDOR_ASSIGN_OR_RETURN(memory_, Estimate(options_, config_, graph_));
  kv_geometry_ = MakeKvGeometry(graph_.kv_layers, KvDType(options_.kv_type));
  return OkStatus();
}

Status Model::EstimateGpuMemory() {
  memory_.weights = GpuWeightBytes(graph_);
  memory_.scratch = GpuScratchBytes(MakePlan(graph_, options_.prefill_chunk), GpuBindingOf(*this));
  const uint64_t needed = memory_.weights + memory_.kv_full + memory_.scratch;
  CANDOR_ASSIGN_OR_RETURN(const uint64_t free, gpu_->device->FreeMemory());
  if (needed <= free) return OkStatus();
  return ResourceExhaustedError(
      "{}: expected {:.0f} MiB of free memory on {} (weights {:.0f}, kv cache {:.0f} at {} tokens, scratch {:.0f}), "
      "got "
      "{:.0f} MiB; ask for a smaller context with -c, choose a smaller model, or run on the CPU with -d cpu",
      file_->path(), MiB(needed), DeviceId(device_.info), MiB(memory_.weights), MiB(memory_.kv_full), options_.context,
      MiB(memory_.scratch), MiB(free));
}

Status Model::CheckMemory() const {
  const MemoryInfo machine = ReadMemoryInfo();
  if (memory_.total() <= machine.available) return OkStatus();
  return ResourceExhaustedError(
      "{}: expected {:.0f} MiB of free memory (weights {:.0f}, kv cache {:.0f} at {} tokens, scratch {:.0f}, tokenizer "
      "{:.0f}), got {:.0f} "
      "MiB; ask for a smaller context with -c, or choose a smaller model",
      file_->path(), MiB(memory_.total()), MiB(memory_.weights), MiB(memory_.kv_full), options_.context,
      MiB(memory_.scratch), MiB(memory_.tokenizer), MiB(machine.available));
}

Result<std::shared_ptr<const Model>> Model::Load(const std::string& path, const LoadOptions& options,
                                                 PhaseTimer* phases) {
  std::shared_ptr<Model> model(new Model());
  try {
    CANDOR_RETURN_IF_ERROR(model->LoadAll(path, options, phases));
  } catch (...) {
    return StatusOfException(path.c_str(), std::current_exception());
  }
  return std::shared_ptr<const Model>(std::move(model));
}

namespace {

// A GPU that starts on a thread of its own, while the file is opened and read.
struct OpenedGpu {
  std::unique_ptr<GpuDevice> device;
  Status status;
  double milliseconds = 0;
};

void OpenGpu(const DeviceInfo& info, OpenedGpu& opened) {
  const Stopwatch watch;
  try {
    auto device = OpenGpuDevice(info);
    opened.status = device.status();
    if (device.ok()) opened.device = std::move(*device);
  } catch (...) {
    opened.status = StatusOfException("device", std::current_exception());
  }
  opened.milliseconds = watch.Milliseconds();
}

Result<ChosenDevice> ChooseForLoad(const LoadOptions& options) {
  if (options.chosen_device.has_value()) return *options.chosen_device;
  CANDOR_ASSIGN_OR_RETURN(const DeviceSelector selector, ParseDeviceSelector(options.device));
  return ChooseDevice(selector, options.allow_software_adapter);
}

}  // namespace

Status Model::LoadAll(const std::string& path, const LoadOptions& options, PhaseTimer* phases) {
  CANDOR_ASSIGN_OR_RETURN(device_, ChooseForLoad(options));
  OpenedGpu gpu;
  std::jthread gpu_thread;
  if (device_.info.kind != DeviceKind::kCpu) gpu_thread = std::jthread([&] { OpenGpu(device_.info, gpu); });
  {
    const ScopedPhase phase(phases, "open");
    CANDOR_ASSIGN_OR_RETURN(file_, OpenModelFile(path));
  }
  {
    const ScopedPhase phase(phases, "verify");
    CANDOR_RETURN_IF_ERROR(Resolve(options));
  }
  if (gpu_thread.joinable()) {
    gpu_thread.join();
    if (phases != nullptr) phases->Add("device", gpu.milliseconds);
    CANDOR_RETURN_IF_ERROR(gpu.status);
    gpu_ = std::make_unique<GpuModel>();
    gpu_->device = std::move(gpu.device);
    gpu_->program = std::make_unique<GpuProgram>(*gpu_->device);
    CANDOR_RETURN_IF_ERROR(EstimateGpuMemory());
  } else {
    CANDOR_RETURN_IF_ERROR(CheckMemory());
  }
  TextParts text;
  std::jthread text_thread([&] { LoadText(file_, text); });
  Status loaded;
  {
    const ScopedPhase phase(phases, "weights");
    loaded = LoadTheWeights();
  }
  text_thread.join();
  if (phases != nullptr) phases->Add("tokenizer", text.milliseconds);
  CANDOR_RETURN_IF_ERROR(text.status);
  CANDOR_RETURN_IF_ERROR(loaded);
  CANDOR_RETURN_IF_ERROR(CheckVocabulary(*file_, config_, *text.tokenizer));
  tokenizer_ = std::move(text.tokenizer);
  chat_template_ = std::move(text.chat_template);
  return OkStatus();
}

Status Model::LoadTheWeights() {
  threads_ = std::make_unique<ThreadPool>(options_.threads);
  if (gpu_ != nullptr) return LoadGpuWeights(*file_, graph_, *threads_, options_.progress, *gpu_);
  CANDOR_ASSIGN_OR_RETURN(weights_, LoadWeights(*file_, graph_, cpu_isa(), *threads_, options_.progress));
  return OkStatus();
}

Result<MemoryEstimate> EstimateMemory(const ModelFile& file, const LoadOptions& options) {
  CANDOR_ASSIGN_OR_RETURN(const Blueprint blueprint, ReadBlueprint(file, options));
  return Estimate(blueprint.options, blueprint.config, blueprint.graph);
}

Result<Plan> PlanOf(const ModelFile& file, const LoadOptions& options) {
  CANDOR_ASSIGN_OR_RETURN(Blueprint blueprint, ReadBlueprint(file, options));
  return MakePlan(std::move(blueprint.graph), blueprint.options.prefill_chunk);
}

}  // namespace candor
