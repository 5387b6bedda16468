#include "graph/gpu_executable.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>

#include "base/check.h"
#include "kernels/attention/kv_layout.h"
#include "kernels/matmul/gpu.h"

namespace candor {
namespace {

uint64_t RoundUp(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

// A step of `rows` rows runs the recording of this many: 1, 2, 4, … and at last the plan's own limit.
int64_t RecordedRows(int64_t rows, int64_t max_rows) {
  return std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows))), max_rows);
}

int64_t TableStride(const GpuModelBinding& binding) { return (binding.context + kPageTokens - 1) / kPageTokens; }

// Byte offsets of everything that an executable keeps on the device, in one buffer.
struct DeviceLayout {
  DeviceLayout(const Plan& plan, const GpuModelBinding& binding) {
    const GpuExtraBytes extra(plan);
    values = Reserve(plan.scratch_bytes + kGpuReadSlack);
    inputs = Reserve(GpuStepLayout(plan.max_rows, plan.max_rows, binding.kv_groups, TableStride(binding)).bytes);
    codes = Reserve(extra.codes + kGpuReadSlack);
    scales = Reserve(extra.scales + kGpuReadSlack);
    attention_parts = Reserve(extra.attention_parts);
    rope_table.assign(plan.graph.values.size(), 0);
    for (const Op& op : plan.graph.ops) {
      if (!std::holds_alternative<RopeTableOp>(op.attributes)) continue;
      const auto table = static_cast<size_t>(op.output);
      rope_table[table] = Reserve(static_cast<uint64_t>(binding.context * plan.graph.values[table].width) * 4);
    }
  }
  uint64_t Reserve(uint64_t size) {
    const uint64_t offset = bytes;
    bytes += RoundUp(size);
    return offset;
  }

  uint64_t values = 0, inputs = 0, codes = 0, scales = 0, attention_parts = 0;
  std::vector<uint64_t> rope_table;  // by ValueId
  uint64_t bytes = 0;
};

GpuStepMemory AddressesOf(const DeviceLayout& layout, const GpuBuffer& buffer, const Graph& graph) {
  GpuStepMemory memory;
  memory.values = buffer.address() + layout.values;
  memory.inputs = buffer.address() + layout.inputs;
  memory.codes = buffer.address() + layout.codes;
  memory.scales = buffer.address() + layout.scales;
  memory.attention_parts = buffer.address() + layout.attention_parts;
  memory.rope_table.assign(graph.values.size(), 0);
  for (const Op& op : graph.ops) {
    const auto value = static_cast<size_t>(op.output);
    if (std::holds_alternative<RopeTableOp>(op.attributes))
      memory.rope_table[value] = buffer.address() + layout.rope_table[value];
  }
  return memory;
}

// Rows start at multiples of 16 bytes, for wide loads.
Status CheckWidths(const Graph& graph) {
  for (const Op& op : graph.ops) {
    const auto* matmul = std::get_if<MatMulOp>(&op.attributes);
    if (matmul == nullptr) continue;
    const Value& x = graph.values[static_cast<size_t>(matmul->x)];
    if (x.width % 4 != 0) {
      return UnimplementedError("matmul on a GPU: expected rows of a multiple of 4 values, got {} of {}; use -d cpu",
                                x.name, x.width);
    }
  }
  return OkStatus();
}

class Impl : public GpuExecutable {
 public:
  Impl(Plan plan, GpuModelBinding binding, GpuProgram& program)
      : plan_(std::move(plan)),
        binding_(std::move(binding)),
        program_(program),
        layout_(plan_, binding_),
        fusion_(plan_) {}

  Status Start(CpuIsa isa, ThreadPool& threads) {
    CANDOR_RETURN_IF_ERROR(CheckWidths(plan_.graph));
    GpuDevice& device = program_.device();
    const GpuStepLayout inputs = StepLayout(plan_.max_rows, plan_.max_rows);
    CANDOR_ASSIGN_OR_RETURN(device_, device.Allocate(layout_.bytes, GpuMemoryKind::kDevice, "activations"));
    CANDOR_ASSIGN_OR_RETURN(host_inputs_, device.Allocate(inputs.bytes, GpuMemoryKind::kHost, "step inputs"));
    memory_ = AddressesOf(layout_, *device_, plan_.graph);
    CANDOR_RETURN_IF_ERROR(MakeRopeTables(isa, threads));
    return Recorded(1, 1).status();  // what every reply needs is there before it is asked for
  }

  Status Run(const StepInputs& inputs) override {
    const int64_t rows = RecordedRows(inputs.rows, plan_.max_rows);
    const int64_t logits_rows = inputs.logits_rows == 0 ? 0 : RecordedRows(inputs.logits_rows, plan_.max_rows);
    CANDOR_ASSIGN_OR_RETURN(Step * step, Recorded(rows, logits_rows));
    WriteGpuStepInputs(inputs, step->layout, host_inputs_->host());
    CANDOR_ASSIGN_OR_RETURN(const double milliseconds, step->recording->Run());
    Count(*step, milliseconds);
    return OkStatus();
  }

  Result<std::vector<GpuLaunchTime>> ProfileDecode() override {
    constexpr int kRepetitions = 20;
    GpuCommandList commands(plan_, fusion_, binding_, memory_, program_);
    CANDOR_ASSIGN_OR_RETURN(const GpuCommands built, commands.Build(StepLayout(1, 1)));
    std::map<std::string, std::vector<GpuStage>> by_kernel;
    for (size_t i = 0; i < built.stages.size(); ++i) by_kernel[built.kernels[i]].push_back(built.stages[i]);
    std::vector<GpuLaunchTime> times;
    for (const auto& [kernel, stages] : by_kernel) {
      std::vector<GpuStage> repeated;
      for (int i = 0; i < kRepetitions; ++i) repeated.insert(repeated.end(), stages.begin(), stages.end());
      CANDOR_ASSIGN_OR_RETURN(const std::unique_ptr<GpuRecording> recording, program_.device().Record(repeated));
      CANDOR_RETURN_IF_ERROR(recording->Run().status());  // the first run is slower
      CANDOR_ASSIGN_OR_RETURN(const double milliseconds, recording->Run());
      times.push_back(
          {kernel, static_cast<int64_t>(stages.size()), milliseconds * 1000.0 / static_cast<double>(repeated.size())});
    }
    std::sort(times.begin(), times.end(), [](const GpuLaunchTime& a, const GpuLaunchTime& b) {
      return a.microseconds * static_cast<double>(a.launches) > b.microseconds * static_cast<double>(b.launches);
    });
    return times;
  }

  const float* logits() const override { return reinterpret_cast<const float*>(host_logits_->host()); }
  const GpuRunCounters& counters() const override { return counters_; }
  const std::vector<GpuKernelUse>& decode_uses() const override { return decode_uses_; }
  const std::vector<GpuKernelUse>& prefill_uses() const override { return prefill_uses_; }
  uint64_t scratch_bytes() const override { return layout_.bytes; }

 private:
  struct Step {
    GpuStepLayout layout;
    std::unique_ptr<GpuRecording> recording;
  };

  GpuStepLayout StepLayout(int64_t rows, int64_t logits_rows) const {
    return GpuStepLayout(rows, logits_rows, binding_.kv_groups, TableStride(binding_));
  }

  // Angles of every position of the context, made by the CPU in double: a GPU's sine is not accurate far out.
  Status MakeRopeTables(CpuIsa isa, ThreadPool& threads) {
    for (const Op& op : plan_.graph.ops) {
      const auto* rope = std::get_if<RopeTableOp>(&op.attributes);
      if (rope != nullptr) CANDOR_RETURN_IF_ERROR(MakeRopeTable(rope->spec, op.output, isa, threads));
    }
    return OkStatus();
  }

  Status MakeRopeTable(const RopeSpec& spec, ValueId value, CpuIsa isa, ThreadPool& threads) {
    const uint64_t bytes = static_cast<uint64_t>(binding_.context * spec.n_rot()) * sizeof(float);
    CANDOR_ASSIGN_OR_RETURN(const std::unique_ptr<GpuBuffer> staging,
                            program_.device().Allocate(bytes, GpuMemoryKind::kHost, "rope table"));
    std::vector<int32_t> positions(static_cast<size_t>(binding_.context));
    std::iota(positions.begin(), positions.end(), 0);
    const int32_t* first = positions.data();
    const RopeTableParams params{&first, spec.inverse_frequency.data(), spec.magnitude, spec.n_rot(),
                                 reinterpret_cast<float*>(staging->host())};
    constexpr int64_t kRowsAtOnce = 64;
    threads.ParallelFor(binding_.context, kRowsAtOnce,
                        [&](int64_t begin, int64_t end) { CpuRope(isa).table(params, begin, end); });
    const GpuCopy copy{{staging.get(), 0}, {device_.get(), layout_.rope_table[static_cast<size_t>(value)]}, bytes};
    return program_.device().Copy({&copy, 1});
  }

  // Room for the rows of logits of the largest step so far. A recording that copies into the old room is made anew.
  Status ReserveLogits(int64_t rows) {
    const uint64_t bytes = LogitsBytes(rows);
    if (host_logits_ != nullptr && host_logits_->bytes() >= bytes) return OkStatus();
    steps_.clear();
    CANDOR_ASSIGN_OR_RETURN(host_logits_, program_.device().Allocate(bytes, GpuMemoryKind::kHost, "logits"));
    return OkStatus();
  }
  uint64_t LogitsBytes(int64_t rows) const {
    const Value& logits = plan_.graph.values[static_cast<size_t>(plan_.graph.logits)];
    return static_cast<uint64_t>(rows * logits.width) * sizeof(float);
  }

  Result<Step*> Recorded(int64_t rows, int64_t logits_rows) {
    CANDOR_RETURN_IF_ERROR(ReserveLogits(std::max<int64_t>(logits_rows, 1)));
    const auto key = std::pair(rows, logits_rows);
    const auto known = steps_.find(key);
    if (known != steps_.end()) return &known->second;
    Step step{StepLayout(rows, logits_rows), nullptr};
    CANDOR_ASSIGN_OR_RETURN(step.recording, Record(step.layout));
    return &steps_.emplace(key, std::move(step)).first->second;
  }

  Result<std::unique_ptr<GpuRecording>> Record(const GpuStepLayout& layout) {
    GpuCommandList commands(plan_, fusion_, binding_, memory_, program_);
    CANDOR_ASSIGN_OR_RETURN(GpuCommands built, commands.Build(layout));
    std::vector<GpuStage>& stages = built.stages;
    const GpuCopy inputs{{host_inputs_.get(), 0}, {device_.get(), layout_.inputs}, layout.bytes};
    stages.insert(stages.begin(), GpuStage{inputs});
    if (layout.logits_rows > 0) {
      const uint64_t offset = layout_.values + plan_.float_offset[static_cast<size_t>(plan_.graph.logits)];
      stages.push_back({GpuCopy{{device_.get(), offset}, {host_logits_.get(), 0}, LogitsBytes(layout.logits_rows)}});
    }
    if (layout.rows == 1) {
      decode_uses_ = std::move(built.uses);
    } else if (layout.rows >= prefill_rows_) {
      prefill_rows_ = layout.rows;
      prefill_uses_ = std::move(built.uses);
    }
    return program_.device().Record(stages);
  }

  void Count(const Step& step, double milliseconds) {
    ++counters_.submissions;
    counters_.dispatches += step.recording->dispatches();
    counters_.gpu_milliseconds += milliseconds;
    if (step.layout.rows != 1) return;
    ++counters_.decode_submissions;
    counters_.decode_dispatches += step.recording->dispatches();
  }

  const Plan plan_;
  const GpuModelBinding binding_;
  GpuProgram& program_;
  const DeviceLayout layout_;
  const GpuFusion fusion_;
  std::unique_ptr<GpuBuffer> device_;
  std::unique_ptr<GpuBuffer> host_inputs_;
  std::unique_ptr<GpuBuffer> host_logits_;
  GpuStepMemory memory_;
  std::map<std::pair<int64_t, int64_t>, Step> steps_;  // by rows and rows of logits
  GpuRunCounters counters_;
  std::vector<GpuKernelUse> decode_uses_;
  std::vector<GpuKernelUse> prefill_uses_;
  int64_t prefill_rows_ = 0;
};

}  // namespace

uint64_t GpuScratchBytes(const Plan& plan, const GpuModelBinding& binding) { return DeviceLayout(plan, binding).bytes; }

Result<std::unique_ptr<GpuExecutable>> MakeGpuExecutable(Plan plan, GpuModelBinding binding, GpuProgram& program,
                                                         CpuIsa isa, ThreadPool& threads) {
  auto executable = std::make_unique<Impl>(std::move(plan), std::move(binding), program);
  CANDOR_RETURN_IF_ERROR(executable->Start(isa, threads));
  return std::unique_ptr<GpuExecutable>(std::move(executable));
}

}  // namespace candor
