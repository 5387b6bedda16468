#include "graph/gpu_fusion.h"

#include "kernels/attention/gpu.h"
#include "kernels/matmul/gpu.h"

namespace candor {
namespace {

// The ops of a plan by what they make and who reads it.
class Uses {
 public:
  explicit Uses(const Graph& graph)
      : graph_(graph), maker_(graph.values.size(), kNone), readers_(graph.values.size(), 0) {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      for (const ValueId input : OpInputs(graph.ops[i])) ++readers_[static_cast<size_t>(input)];
      if (graph.ops[i].output != kNone) maker_[static_cast<size_t>(graph.ops[i].output)] = static_cast<int32_t>(i);
    }
    ++readers_[static_cast<size_t>(graph.logits)];
  }

  int readers(ValueId value) const { return readers_[static_cast<size_t>(value)]; }

  // The op of kind T that makes `value`, if nobody else reads it; else kNone.
  template <class T>
  int32_t SoleMaker(ValueId value) const {
    const int32_t op = maker_[static_cast<size_t>(value)];
    if (op == kNone || readers(value) != 1) return kNone;
    return std::holds_alternative<T>(graph_.ops[static_cast<size_t>(op)].attributes) ? op : kNone;
  }
  template <class T>
  const T& Get(int32_t op) const {
    return std::get<T>(graph_.ops[static_cast<size_t>(op)].attributes);
  }

 private:
  const Graph& graph_;
  std::vector<int32_t> maker_;
  std::vector<int> readers_;
};

// Goes back from a value over its rotation and its norm by heads: the ops passed, and the value before them.
struct HeadChain {
  int32_t rope = kNone;
  int32_t norm = kNone;
  ValueId source = kNone;
};
HeadChain FollowHeads(const Uses& uses, ValueId value, int32_t heads) {
  HeadChain chain{kNone, kNone, value};
  chain.rope = uses.SoleMaker<RopeOp>(chain.source);
  if (chain.rope != kNone) chain.source = uses.Get<RopeOp>(chain.rope).x;
  chain.norm = uses.SoleMaker<RmsNormOp>(chain.source);
  if (chain.norm != kNone && uses.Get<RmsNormOp>(chain.norm).groups != heads) chain.norm = kNone;
  if (chain.norm != kNone && uses.Get<RmsNormOp>(chain.norm).w == kNone) chain.norm = kNone;
  if (chain.norm != kNone) chain.source = uses.Get<RmsNormOp>(chain.norm).x;
  return chain;
}

// The attention that reads what the kv_write of `layer` stores; kNone when there is more than one.
int32_t AttentionOf(const Graph& graph, int32_t layer) {
  int32_t found = kNone;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const auto* attention = std::get_if<AttentionOp>(&graph.ops[i].attributes);
    if (attention == nullptr || attention->layer != layer) continue;
    if (found != kNone) return kNone;
    found = static_cast<int32_t>(i);
  }
  return found;
}

bool SameRotation(const Uses& uses, const HeadChain& q, const HeadChain& k) {
  if (q.rope == kNone || k.rope == kNone) return q.rope == k.rope;
  const auto& a = uses.Get<RopeOp>(q.rope);
  const auto& b = uses.Get<RopeOp>(k.rope);
  return a.table == b.table && a.pairing == b.pairing;
}

PreparedHeads FindPreparedHeads(const Graph& graph, const Uses& uses, int32_t op) {
  const auto& write = uses.Get<KvWriteOp>(op);
  const KvLayer& layer = graph.kv_layers[static_cast<size_t>(write.layer)];
  const int32_t attention = AttentionOf(graph, write.layer);
  if (attention == kNone || layer.key_dim > static_cast<int32_t>(kMaxPreparedHeadDim)) return {};
  const auto& reader = uses.Get<AttentionOp>(attention);
  if (uses.readers(reader.q) != 1) return {};
  const HeadChain q = FollowHeads(uses, reader.q, reader.heads);
  const HeadChain k = FollowHeads(uses, write.k, layer.kv_heads);
  // Everything must be there when the keys are written, queries too.
  if (!SameRotation(uses, q, k) || attention < op || q.rope > op || q.norm > op) return {};
  if (q.rope == kNone && q.norm == kNone) return {};
  return {q.norm, k.norm, q.rope, k.rope, op, q.source, k.source, reader.q, reader.heads};
}

// Bytes of scratch that a value's rows have.
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool Overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};
Range RangeOf(const Plan& plan, ValueId value) {
  const uint64_t begin = plan.float_offset[static_cast<size_t>(value)];
  const auto bytes = static_cast<uint64_t>(plan.max_rows * plan.graph.values[static_cast<size_t>(value)].width) * 4;
  return {begin, begin + bytes};
}

// One type of codes and one width, so that a launch takes them all.
bool DecodeTogether(const Plan& plan, const FusedStep& step) {
  for (const int32_t op : step.ops) {
    const auto& matmul = std::get<MatMulOp>(plan.graph.ops[static_cast<size_t>(op)].attributes);
    const Weight& weight = plan.graph.weights[static_cast<size_t>(matmul.w)];
    if (!GpuDecodeSupported(weight.dtype, static_cast<uint32_t>(weight.cols))) return false;
  }
  return true;
}

DType TypeOf(const Graph& graph, const MatMulOp& matmul) { return graph.weights[static_cast<size_t>(matmul.w)].dtype; }

// The gated_activation of the two products of a step, where nothing else reads them.
int32_t FindGated(const Graph& graph, const Uses& uses, const FusedStep& step) {
  if (step.ops.size() != 2) return kNone;
  const Op& first = graph.ops[static_cast<size_t>(step.ops[0])];
  const Op& second = graph.ops[static_cast<size_t>(step.ops[1])];
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const auto* gated = std::get_if<GatedActivationOp>(&graph.ops[i].attributes);
    if (gated == nullptr || gated->gate != first.output || gated->up != second.output) continue;
    const auto& gate = std::get<MatMulOp>(first.attributes);
    const auto& up = std::get<MatMulOp>(second.attributes);
    const bool plain = gate.bias == kNone && up.bias == kNone && gate.residual == kNone && up.residual == kNone;
    const bool alone = uses.readers(first.output) == 1 && uses.readers(second.output) == 1;
    return plain && alone && TypeOf(graph, gate) == TypeOf(graph, up) ? static_cast<int32_t>(i) : kNone;
  }
  return kNone;
}

// A launch reads its input while others of its workgroups write: what it writes must lie elsewhere, also where the plan
// thought the input dead or the output not yet alive.
bool WritesElsewhere(const Plan& plan, const FusedStep& step, ValueId input, int32_t gated) {
  const Range read = RangeOf(plan, input);
  if (gated != kNone) return !read.Overlaps(RangeOf(plan, plan.graph.ops[static_cast<size_t>(gated)].output));
  for (const int32_t op : step.ops) {
    if (read.Overlaps(RangeOf(plan, plan.graph.ops[static_cast<size_t>(op)].output))) return false;
  }
  return true;
}

// The norm that makes the input of a step, where nothing else reads it.
int32_t FindNorm(const Graph& graph, const Uses& uses, const FusedStep& step, ValueId x) {
  if (uses.readers(x) != static_cast<int>(step.ops.size())) return kNone;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const auto* norm = std::get_if<RmsNormOp>(&graph.ops[i].attributes);
    if (norm != nullptr && graph.ops[i].output == x && norm->groups == 1 && norm->w != kNone)
      return static_cast<int32_t>(i);
  }
  return kNone;
}

FusedProducts FindFusedProducts(const Plan& plan, const Uses& uses, const FusedStep& step) {
  if (step.kind != StepKind::kMatMul || !DecodeTogether(plan, step)) return {};
  const ValueId x = std::get<MatMulOp>(plan.graph.ops[static_cast<size_t>(step.ops[0])].attributes).x;
  const int32_t gated = FindGated(plan.graph, uses, step);
  const int32_t norm = FindNorm(plan.graph, uses, step, x);
  const auto input = [&](const FusedProducts& fused) {
    return fused.norm == kNone ? x : std::get<RmsNormOp>(plan.graph.ops[static_cast<size_t>(fused.norm)].attributes).x;
  };
  for (const FusedProducts& fused : {FusedProducts{norm, gated}, {kNone, gated}, {norm, kNone}}) {
    if (WritesElsewhere(plan, step, input(fused), fused.gated)) return fused;
  }
  return {};
}

}  // namespace

GpuFusion::GpuFusion(const Plan& plan)
    : prepared(plan.graph.ops.size()),
      in_prepared(plan.graph.ops.size(), false),
      products(plan.steps.size()),
      in_decode_products(plan.graph.ops.size(), false) {
  const Uses uses(plan.graph);
  for (size_t op = 0; op < plan.graph.ops.size(); ++op) {
    if (!std::holds_alternative<KvWriteOp>(plan.graph.ops[op].attributes)) continue;
    prepared[op] = FindPreparedHeads(plan.graph, uses, static_cast<int32_t>(op));
    if (prepared[op].kv_write == kNone) continue;
    for (const int32_t part : {prepared[op].q_norm, prepared[op].k_norm, prepared[op].q_rope, prepared[op].k_rope}) {
      if (part != kNone) in_prepared[static_cast<size_t>(part)] = true;
    }
  }
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    products[step] = FindFusedProducts(plan, uses, plan.steps[step]);
    for (const int32_t part : {products[step].norm, products[step].gated}) {
      if (part != kNone) in_decode_products[static_cast<size_t>(part)] = true;
    }
  }
}

}  // namespace candor
