#include "runtime/engine.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/exceptions.h"
#include "graph/cpu_executable.h"
#include "graph/gpu_executable.h"
#include "graph/plan.h"
#include "kernels/matmul/gpu.h"
#include "kernels/matmul/packed_matrix.h"

namespace candor {
namespace {

// Ops of the plan by family and variant, with the weight bytes that each reads. A weight that two ops share is counted
// once.
std::vector<OpPlacement> CountCpuOps(const Model& model) {
  std::map<std::pair<std::string, std::string>, OpPlacement> rows;
  std::set<WeightId> counted;
  const std::string isa(CpuIsaName(model.cpu_isa()));
  for (const Op& op : model.graph().ops) {
    WeightId weight = kNone;
    std::string variant = isa;
    if (const auto* matmul = std::get_if<MatMulOp>(&op.attributes)) {
      weight = matmul->w;
      variant += fmt::format(" {}", DTypeName(model.graph().weights[static_cast<size_t>(weight)].dtype));
    }
    OpPlacement& row = rows[{OpName(op), variant}];
    row.op = OpName(op);
    row.variant = variant;
    row.device = "cpu";
    ++row.count;
    if (weight != kNone && counted.insert(weight).second) {
      row.weight_bytes += model.weights().weights[static_cast<size_t>(weight)].matrix.bytes;
    }
  }
  std::vector<OpPlacement> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

}  // namespace

struct Engine::Impl {
  Impl(const Model& model, int64_t rows)
      : kv(model.kv_geometry(), model.gpu() == nullptr ? MakeHostKvMemory() : MakeGpuKvMemory(*model.gpu()->device)),
        max_rows(rows) {
    token_ids.reserve(static_cast<size_t>(rows));
    page_tables.resize(kv.geometry().groups.size());
    for (auto& tables : page_tables) tables.reserve(static_cast<size_t>(rows));
    page_table_pointers.resize(page_tables.size());
  }

  KvCache kv;
  const int64_t max_rows;
  std::unique_ptr<Executable> executable;
  GpuExecutable* gpu = nullptr;  // the same, where it runs on a GPU
  std::vector<OpPlacement> ops;
  uint64_t scratch_bytes = 0;
  uint64_t steps = 0;
  uint64_t rows = 0;
  bool poisoned = false;  // our own bug was met: no further work

  // The step in progress.
  std::vector<int32_t> token_ids, positions, sequences, logits_index;
  std::vector<std::vector<std::byte* const*>> page_tables;  // [group][sequence slot]
  std::vector<std::byte* const* const*> page_table_pointers;

  Status StartOnCpu(const Model& model);
  Status StartOnGpu(const Model& model);
  void Gather(std::span<const SequenceRows> batch);
  Status RunGathered();
};

Status Engine::Impl::StartOnCpu(const Model& model) {
  Plan plan = MakePlan(model.graph(), max_rows);
  scratch_bytes = plan.scratch_bytes;
  ops = CountCpuOps(model);
  CANDOR_ASSIGN_OR_RETURN(
      executable,
      MakeCpuExecutable(std::move(plan), model.weights().weights, model.kv_geometry().layers,
                        static_cast<int32_t>(model.kv_geometry().groups.size()), model.cpu_isa(), model.threads()));
  return OkStatus();
}

Status Engine::Impl::StartOnGpu(const Model& model) {
  CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuExecutable> made,
                          MakeGpuExecutable(MakePlan(model.graph(), max_rows), GpuBindingOf(model),
                                            *model.gpu()->program, model.cpu_isa(), model.threads()));
  gpu = made.get();
  executable = std::move(made);
  scratch_bytes = gpu->scratch_bytes();
  return OkStatus();
}

void Engine::Impl::Gather(std::span<const SequenceRows> batch) {
  token_ids.clear();
  positions.clear();
  sequences.clear();
  logits_index.clear();
  for (auto& tables : page_tables) tables.clear();
  for (size_t slot = 0; slot < batch.size(); ++slot) {
    const SequenceRows& item = batch[slot];
    for (size_t group = 0; group < page_tables.size(); ++group)
      page_tables[group].push_back(item.sequence->pages_.table(group));
    for (size_t i = 0; i < item.tokens.size(); ++i) {
      const bool last = i + 1 == item.tokens.size();
      if (item.logits == SequenceRows::Logits::kAll || (item.logits == SequenceRows::Logits::kLast && last)) {
        logits_index.push_back(static_cast<int32_t>(token_ids.size()));
      }
      token_ids.push_back(item.tokens[i]);
      positions.push_back(static_cast<int32_t>(item.sequence->length() + static_cast<int64_t>(i)));
      sequences.push_back(static_cast<int32_t>(slot));
    }
  }
  for (size_t group = 0; group < page_tables.size(); ++group) page_table_pointers[group] = page_tables[group].data();
}

Status Engine::Impl::RunGathered() {
  StepInputs inputs;
  inputs.rows = static_cast<int64_t>(token_ids.size());
  inputs.token_ids = token_ids.data();
  inputs.positions = positions.data();
  inputs.sequences = sequences.data();
  inputs.page_tables = page_table_pointers.data();
  inputs.logits_rows = static_cast<int64_t>(logits_index.size());
  inputs.logits_index = logits_index.data();
  try {
    const Status status = executable->Run(inputs);
    // A device that was lost, or does not come back, is of no use to any later step.
    poisoned = gpu != nullptr && !status.ok() && status.code() != StatusCode::kResourceExhausted;
    CANDOR_RETURN_IF_ERROR(status);
  } catch (...) {
    poisoned = true;
    return StatusOfException("engine", std::current_exception());
  }
  ++steps;
  rows += token_ids.size();
  return OkStatus();
}

namespace {

// Engines of one model take turns on its GPU.
std::unique_lock<std::mutex> LockGpu(const Model& model) {
  return model.gpu() == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(model.gpu()->mutex);
}

}  // namespace

Sequence::Sequence(Engine& engine) : engine_(engine), pages_(engine.impl_->kv) {}
Sequence::~Sequence() = default;

Status Sequence::Truncate(int64_t length) {
  if (length < 0 || length > this->length()) {
    return InvalidArgumentError("sequence: expected a length from 0 to {}, got {}", this->length(), length);
  }
  CANDOR_RETURN_IF_ERROR(pages_.Truncate(length));
  tokens_.resize(static_cast<size_t>(length));
  return OkStatus();
}

Engine::Engine(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Create(std::shared_ptr<const Model> model, PhaseTimer* phases) {
  const ScopedPhase phase(phases, "compile");
  std::unique_ptr<Engine> engine(new Engine(std::move(model)));
  const Model& m = *engine->model_;
  const auto lock = LockGpu(m);
  engine->impl_ = std::make_unique<Impl>(m, m.options().prefill_chunk);
  CANDOR_RETURN_IF_ERROR(m.gpu() == nullptr ? engine->impl_->StartOnCpu(m) : engine->impl_->StartOnGpu(m));
  return engine;
}

std::unique_ptr<Sequence> Engine::NewSequence() { return std::unique_ptr<Sequence>(new Sequence(*this)); }

Result<std::unique_ptr<Sequence>> Engine::Clone(const Sequence& sequence) {
  std::unique_ptr<Sequence> clone = NewSequence();
  clone->pages_.ShareFrom(sequence.pages_, sequence.length());
  clone->tokens_ = sequence.tokens_;
  return clone;
}

int64_t Engine::max_rows() const { return impl_->max_rows; }
int64_t Engine::context() const { return model_->options().context; }

namespace {

Status CheckSequence(const SequenceRows& item, int64_t context, uint32_t vocabulary) {
  const int64_t rows = static_cast<int64_t>(item.tokens.size());
  if (rows == 0)
    return InvalidArgumentError("engine: expected at least one token for every sequence of a step, got none");
  if (item.sequence->length() + rows > context) {
    return FailedPreconditionError(
        "engine: expected a sequence of at most {} tokens, got {} with {} more; raise the context with -c", context,
        item.sequence->length(), rows);
  }
  for (const TokenId id : item.tokens) {
    if (id < 0 || static_cast<uint32_t>(id) >= vocabulary) {
      return InvalidArgumentError("engine: expected token ids from 0 to {}, got {}", vocabulary - 1, id);
    }
  }
  return OkStatus();
}

Status CheckBatch(std::span<const SequenceRows> batch, int64_t max_rows, int64_t context, uint32_t vocabulary) {
  int64_t rows = 0;
  std::set<const Sequence*> seen;
  for (const SequenceRows& item : batch) {
    CANDOR_RETURN_IF_ERROR(CheckSequence(item, context, vocabulary));
    if (batch.size() > 1 && !seen.insert(item.sequence).second) {
      return InvalidArgumentError("engine: expected every sequence once in a step, got one twice");
    }
    rows += static_cast<int64_t>(item.tokens.size());
  }
  if (rows == 0 || rows > max_rows)
    return InvalidArgumentError("engine: expected 1 to {} rows in a step, got {}", max_rows, rows);
  return OkStatus();
}

}  // namespace

Result<std::span<const float>> Engine::Step(std::span<const SequenceRows> batch) {
  if (impl_->poisoned)
    return FailedPreconditionError(
        "engine: it met an internal error before and accepts no further work; make a new one");
  CANDOR_RETURN_IF_ERROR(CheckBatch(batch, impl_->max_rows, context(), model_->config().vocabulary));
  const auto lock = LockGpu(*model_);
  Status status;
  for (const SequenceRows& item : batch) {
    const int64_t length = item.sequence->length();
    if (status.ok()) status = item.sequence->pages_.Prepare(length, length + static_cast<int64_t>(item.tokens.size()));
  }
  if (status.ok()) {
    impl_->Gather(batch);
    status = impl_->RunGathered();
  }
  if (!status.ok()) {
    for (const SequenceRows& item : batch) {
      const Status undone =
          item.sequence->pages_.Truncate(item.sequence->length());  // pages of these rows alone: cannot fail
      CANDOR_CHECK(undone.ok(), "engine: undo of a step");
    }
    return status;
  }
  for (const SequenceRows& item : batch) {
    item.sequence->tokens_.insert(item.sequence->tokens_.end(), item.tokens.begin(), item.tokens.end());
    item.sequence->pages_.ReleaseBehindWindows(item.sequence->length());
  }
  return std::span<const float>(impl_->executable->logits(), impl_->logits_index.size() * model_->config().vocabulary);
}

namespace {

// Launches of one decoded token and of the longest prefill step, by op and kernel.
std::vector<OpPlacement> GpuOps(const GpuExecutable& gpu, const std::string& device) {
  std::vector<OpPlacement> rows;
  for (const auto* uses : {&gpu.decode_uses(), &gpu.prefill_uses()}) {
    for (const GpuKernelUse& use : *uses) {
      OpPlacement row;
      row.op = use.op;
      row.variant = use.kernel + (uses == &gpu.decode_uses() ? " (decode)" : " (prefill)");
      row.device = device;
      row.count = use.launches;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

GpuPlacement PlaceOnGpu(const Model& model, const GpuExecutable& gpu, uint64_t steps) {
  const DeviceInfo& info = model.gpu()->device->info();
  const GpuRunCounters& counters = gpu.counters();
  GpuPlacement placement;
  placement.uuid = info.gpu.uuid;
  placement.driver = fmt::format("{} {}", info.gpu.driver_name,
                                 info.gpu.driver_version.empty() ? info.gpu.api_version : info.gpu.driver_version);
  placement.precision = GpuBindingOf(model).int8_activations
                            ? "auto: activations that meet quantised weights are int8, one scale per 32"
                            : std::string(GpuPrecisionName(model.options().gpu_precision)) + ": f32 activations";
  placement.submissions = counters.submissions;
  placement.dispatches = counters.dispatches;
  placement.gpu_milliseconds = counters.gpu_milliseconds;
  if (counters.decode_submissions > 0) {
    placement.dispatches_per_token =
        static_cast<double>(counters.decode_dispatches) / static_cast<double>(counters.decode_submissions);
  }
  placement.timestamps = info.kind == DeviceKind::kCuda || info.gpu.timestamp_period > 0;
  placement.verified = steps > 0 && counters.submissions == steps && counters.dispatches >= steps &&
                       (counters.gpu_milliseconds > 0 || !placement.timestamps);
  return placement;
}

}  // namespace

Result<std::vector<GpuLaunchTime>> Engine::ProfileDecode() {
  if (impl_->gpu == nullptr) return FailedPreconditionError("profile: expected an engine on a GPU, got one on the CPU");
  const auto lock = LockGpu(*model_);
  return impl_->gpu->ProfileDecode();
}

PlacementReport Engine::Report() const {
  const Model& m = *model_;
  PlacementReport report;
  report.device = DeviceId(m.device().info);
  report.device_name = m.device().info.name;
  report.isa = CpuIsaName(m.cpu_isa());
  report.threads = m.threads().size();
  report.kv_type = m.options().kv_type == KvType::kF32 ? "f32" : "f16";
  report.ops = impl_->gpu == nullptr ? impl_->ops : GpuOps(*impl_->gpu, report.device);
  report.weight_bytes = m.gpu() == nullptr ? m.memory().weights : m.gpu()->weight_bytes;
  report.kv_bytes = impl_->kv.BytesInUse();
  report.scratch_bytes = impl_->scratch_bytes;
  report.steps = impl_->steps;
  report.rows = impl_->rows;
  if (impl_->gpu != nullptr) report.gpu = PlaceOnGpu(m, *impl_->gpu, impl_->steps);
  return report;
}

}  // namespace candor
