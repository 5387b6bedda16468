#include "graph/cpu_executable.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "kernels/add/add.h"
#include "kernels/attention/attention.h"
#include "kernels/embedding/embedding.h"
#include "kernels/gated_activation/gated_activation.h"
#include "kernels/matmul/matmul.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/select_rows/select_rows.h"
#include "platform/memory.h"

namespace candor {
namespace {

// Rows of a pipeline that one thread takes at once.
constexpr int64_t kPipelineRows = 4;

struct QuantizeParams {
  const float* x = nullptr;
  int64_t x_stride = 0;
  QuantizedRows out;
};

using RowCall = std::variant<EmbeddingParams, RopeTableParams, RmsNormParams, RopeParams, KvWriteParams,
                             GatedActivationParams, AddParams, SelectRowsParams, QuantizeParams>;

struct BoundStep {
  StepKind kind = StepKind::kRows;
  RowSpace rows = RowSpace::kAll;
  std::vector<RowCall> calls;  // kRows
  MatMulParams matmul;         // kMatMul
  AttentionParams attention;   // kAttention
};

// The kernels of one ISA, looked up once.
struct Kernels {
  explicit Kernels(CpuIsa isa)
      : matmul(CpuMatMul(isa)),
        attention(CpuAttention(isa)),
        rms_norm(CpuRmsNorm(isa)),
        rope(CpuRope(isa)),
        gated_activation(CpuGatedActivation(isa)),
        add(CpuAdd(isa)) {}
  const MatMulKernels& matmul;
  const AttentionKernels& attention;
  RmsNormKernel rms_norm;
  const RopeKernels& rope;
  GatedActivationKernel gated_activation;
  AddKernel add;
};

class CpuExecutable : public Executable {
 public:
  CpuExecutable(Plan plan, const std::vector<BoundWeight>& weights, const std::vector<KvBinding>& kv, int32_t kv_groups,
                CpuIsa isa, AlignedBuffer scratch, ThreadPool& threads)
      : plan_(std::move(plan)),
        kernels_(isa),
        threads_(threads),
        scratch_(std::move(scratch)),
        kv_rows_(static_cast<size_t>(kv_groups)),
        counters_(plan_.steps.size()) {
    for (const FusedStep& step : plan_.steps) steps_.push_back(BindStep(step, weights, kv));
  }

  Status Run(const StepInputs& inputs) override {
    inputs_ = inputs;
    for (size_t group = 0; group < kv_rows_.size(); ++group) {
      kv_rows_[group] = KvRows{inputs.positions, inputs.sequences, inputs.page_tables[group]};
    }
    for (auto& counter : counters_) counter.store(0, std::memory_order_relaxed);
    threads_.Run([this](int) { RunSteps(); });
    failure_.RethrowIfAny();
    return OkStatus();
  }

  const float* logits() const override { return FloatsOf(plan_.graph.logits); }

 private:
  void RunSteps() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      RunStep(steps_[i], counters_[i]);
      threads_.barrier().Wait();  // also after a failure: every member passes every barrier
    }
  }

  void RunStep(const BoundStep& step, std::atomic<int64_t>& counter) {
    const int64_t rows = step.rows == RowSpace::kAll ? inputs_.rows : inputs_.logits_rows;
    if (rows == 0 || failure_.any()) return;
    try {
      const int64_t units = Units(step, rows);
      for (int64_t unit = counter.fetch_add(1, std::memory_order_relaxed); unit < units;
           unit = counter.fetch_add(1, std::memory_order_relaxed)) {
        RunUnit(step, rows, unit);
      }
    } catch (...) {
      failure_.SetCurrent();
    }
  }

  int64_t Units(const BoundStep& step, int64_t rows) const {
    switch (step.kind) {
      case StepKind::kRows:
        return (rows + kPipelineRows - 1) / kPipelineRows;
      case StepKind::kMatMul:
        return kernels_.matmul.units(step.matmul, rows);
      case StepKind::kAttention:
        return kernels_.attention.units(step.attention, rows);
    }
    return 0;
  }

  void RunUnit(const BoundStep& step, int64_t rows, int64_t unit) {
    switch (step.kind) {
      case StepKind::kRows: {
        const int64_t begin = unit * kPipelineRows;
        const int64_t end = std::min(begin + kPipelineRows, rows);
        for (const RowCall& call : step.calls) {
          std::visit([&](const auto& params) { RunRows(params, begin, end); }, call);
        }
        break;
      }
      case StepKind::kMatMul:
        kernels_.matmul.run(step.matmul, rows, unit, unit + 1);
        break;
      case StepKind::kAttention:
        kernels_.attention.run(step.attention, rows, unit, unit + 1);
        break;
    }
  }

  void RunRows(const EmbeddingParams& params, int64_t begin, int64_t end) const { RunEmbedding(params, begin, end); }
  void RunRows(const RopeTableParams& params, int64_t begin, int64_t end) const {
    kernels_.rope.table(params, begin, end);
  }
  void RunRows(const RmsNormParams& params, int64_t begin, int64_t end) const { kernels_.rms_norm(params, begin, end); }
  void RunRows(const RopeParams& params, int64_t begin, int64_t end) const { kernels_.rope.rotate(params, begin, end); }
  void RunRows(const KvWriteParams& params, int64_t begin, int64_t end) const {
    kernels_.attention.write_kv(params, begin, end);
  }
  void RunRows(const GatedActivationParams& params, int64_t begin, int64_t end) const {
    kernels_.gated_activation(params, begin, end);
  }
  void RunRows(const AddParams& params, int64_t begin, int64_t end) const { kernels_.add(params, begin, end); }
  void RunRows(const SelectRowsParams& params, int64_t begin, int64_t end) const { RunSelectRows(params, begin, end); }
  void RunRows(const QuantizeParams& params, int64_t begin, int64_t end) const {
    kernels_.matmul.quantize(params.x, params.x_stride, params.out, begin, end);
  }

  // Binding: ids to pointers, once.

  float* FloatsOf(ValueId value) const {
    const uint64_t offset = plan_.float_offset[static_cast<size_t>(value)];
    CANDOR_CHECK(offset != Plan::kUnplaced, plan_.graph.values[static_cast<size_t>(value)].name);
    return reinterpret_cast<float*>(scratch_.data() + offset);
  }
  int64_t WidthOf(ValueId value) const { return plan_.graph.values[static_cast<size_t>(value)].width; }
  QuantizedRows QuantizedOf(ValueId value) const {
    const uint64_t offset = plan_.quantized_offset[static_cast<size_t>(value)];
    if (offset == Plan::kUnplaced) return {};
    return QuantizedRowsIn(scratch_.data() + offset, plan_.max_rows, WidthOf(value));
  }

  BoundStep BindStep(const FusedStep& step, const std::vector<BoundWeight>& weights, const std::vector<KvBinding>& kv) {
    BoundStep bound;
    bound.kind = step.kind;
    bound.rows = step.rows;
    for (const int32_t index : step.ops) {
      const Op& op = plan_.graph.ops[static_cast<size_t>(index)];
      std::visit([&](const auto& attributes) { BindOp(attributes, op.output, weights, kv, bound); }, op.attributes);
    }
    for (const ValueId value : step.quantize) {
      bound.calls.emplace_back(QuantizeParams{FloatsOf(value), WidthOf(value), QuantizedOf(value)});
    }
    return bound;
  }

  static const BoundWeight& At(const std::vector<BoundWeight>& weights, WeightId id) {
    return weights[static_cast<size_t>(id)];
  }
  static const float* VectorOr(const std::vector<BoundWeight>& weights, WeightId id) {
    return id == kNone ? nullptr : At(weights, id).vector;
  }

  void BindOp(const EmbeddingOp& op, ValueId y, const std::vector<BoundWeight>& weights, const std::vector<KvBinding>&,
              BoundStep& step) {
    step.calls.emplace_back(
        EmbeddingParams{At(weights, op.table).matrix, &inputs_.token_ids, op.scale, FloatsOf(y), WidthOf(y)});
  }
  void BindOp(const RopeTableOp& op, ValueId y, const std::vector<BoundWeight>&, const std::vector<KvBinding>&,
              BoundStep& step) {
    // The frequencies live in the plan's graph, which this object owns.
    step.calls.emplace_back(RopeTableParams{&inputs_.positions, op.spec.inverse_frequency.data(), op.spec.magnitude,
                                            op.spec.n_rot(), FloatsOf(y)});
  }
  void BindOp(const RmsNormOp& op, ValueId y, const std::vector<BoundWeight>& weights, const std::vector<KvBinding>&,
              BoundStep& step) {
    const int64_t width = WidthOf(y);
    step.calls.emplace_back(RmsNormParams{FloatsOf(op.x), VectorOr(weights, op.w), FloatsOf(y), width, width,
                                          width / op.groups, op.groups, op.eps});
  }
  void BindOp(const MatMulOp& op, ValueId y, const std::vector<BoundWeight>& weights, const std::vector<KvBinding>&,
              BoundStep& step) {
    MatMulParams& params = step.matmul;
    params.x = FloatsOf(op.x);
    params.x_stride = WidthOf(op.x);
    params.xq = QuantizedOf(op.x);
    MatMulOutput& output = params.outputs[params.output_count++];
    output.w = At(weights, op.w).matrix;
    output.bias = VectorOr(weights, op.bias);
    output.residual = op.residual == kNone ? nullptr : FloatsOf(op.residual);
    output.residual_stride = WidthOf(y);
    output.y = FloatsOf(y);
    output.y_stride = WidthOf(y);
  }
  void BindOp(const RopeOp& op, ValueId y, const std::vector<BoundWeight>&, const std::vector<KvBinding>&,
              BoundStep& step) {
    step.calls.emplace_back(RopeParams{FloatsOf(y), WidthOf(y), op.heads, op.head_dim,
                                       static_cast<int32_t>(WidthOf(op.table)), op.pairing, FloatsOf(op.table)});
  }
  void BindOp(const KvWriteOp& op, ValueId, const std::vector<BoundWeight>&, const std::vector<KvBinding>& kv,
              BoundStep& step) {
    const KvBinding& binding = kv[static_cast<size_t>(op.layer)];
    step.calls.emplace_back(KvWriteParams{FloatsOf(op.k), FloatsOf(op.v), WidthOf(op.k), WidthOf(op.v), binding.layout,
                                          &kv_rows_[static_cast<size_t>(binding.group)]});
  }
  void BindOp(const AttentionOp& op, ValueId y, const std::vector<BoundWeight>&, const std::vector<KvBinding>& kv,
              BoundStep& step) {
    const KvBinding& binding = kv[static_cast<size_t>(op.layer)];
    AttentionParams& params = step.attention;
    params.q = FloatsOf(op.q);
    params.y = FloatsOf(y);
    params.q_stride = WidthOf(op.q);
    params.y_stride = WidthOf(y);
    params.heads = op.heads;
    params.scale = op.scale;
    params.softcap = op.softcap;
    params.threads = threads_.size();
    params.window = plan_.graph.kv_layers[static_cast<size_t>(op.layer)].window;
    params.layout = binding.layout;
    params.kv_rows = &kv_rows_[static_cast<size_t>(binding.group)];
  }
  void BindOp(const GatedActivationOp& op, ValueId y, const std::vector<BoundWeight>&, const std::vector<KvBinding>&,
              BoundStep& step) {
    const int64_t width = WidthOf(y);
    step.calls.emplace_back(GatedActivationParams{FloatsOf(op.gate), FloatsOf(op.up), FloatsOf(y), width, width, width,
                                                  width, op.activation});
  }
  void BindOp(const AddOp& op, ValueId y, const std::vector<BoundWeight>&, const std::vector<KvBinding>&,
              BoundStep& step) {
    step.calls.emplace_back(AddParams{FloatsOf(op.a), FloatsOf(op.b), FloatsOf(y), WidthOf(y), WidthOf(y)});
  }
  void BindOp(const SelectRowsOp& op, ValueId y, const std::vector<BoundWeight>&, const std::vector<KvBinding>&,
              BoundStep& step) {
    step.calls.emplace_back(
        SelectRowsParams{FloatsOf(op.x), FloatsOf(y), WidthOf(op.x), WidthOf(y), WidthOf(y), &inputs_.logits_index});
  }

  const Plan plan_;
  const Kernels kernels_;
  ThreadPool& threads_;
  AlignedBuffer scratch_;
  StepInputs inputs_;            // of the step in progress; kernels read it through pointers bound above
  std::vector<KvRows> kv_rows_;  // by KV group, likewise
  std::vector<BoundStep> steps_;
  std::vector<std::atomic<int64_t>> counters_;  // next unit of each step
  FirstException failure_;                      // of the step in progress; the steps after it do nothing
};

}  // namespace

Result<std::unique_ptr<Executable>> MakeCpuExecutable(Plan plan, const std::vector<BoundWeight>& weights,
                                                      const std::vector<KvBinding>& kv, int32_t kv_groups, CpuIsa isa,
                                                      ThreadPool& threads) {
  CANDOR_ASSIGN_OR_RETURN(AlignedBuffer scratch, AlignedBuffer::Allocate(plan.scratch_bytes, "scratch"));
  return std::unique_ptr<Executable>(
      new CpuExecutable(std::move(plan), weights, kv, kv_groups, isa, std::move(scratch), threads));
}

}  // namespace candor
