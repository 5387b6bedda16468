#include "graph/fusion.h"

#include <algorithm>
#include <set>

#include "kernels/matmul/matmul.h"

namespace candor {
namespace {

std::vector<int> CountUses(const Graph& graph) {
  std::vector<int> uses(graph.values.size(), 0);
  for (const Op& op : graph.ops) {
    for (const ValueId input : OpInputs(op)) ++uses[static_cast<size_t>(input)];
  }
  ++uses[static_cast<size_t>(graph.logits)];
  return uses;
}

std::vector<int32_t> FindProducers(const Graph& graph) {
  std::vector<int32_t> producer(graph.values.size(), kNone);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.ops[i].output != kNone) producer[static_cast<size_t>(graph.ops[i].output)] = static_cast<int32_t>(i);
  }
  return producer;
}

// add(matmul(x, w), r) becomes one product with a residual when nothing else reads the product and r exists before it.
void FoldResiduals(Graph& graph) {
  const std::vector<int> uses = CountUses(graph);
  const std::vector<int32_t> producer = FindProducers(graph);
  std::vector<bool> dropped(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const auto* add = std::get_if<AddOp>(&graph.ops[i].attributes);
    if (add == nullptr) continue;
    for (const auto& [product, residual] : {std::pair(add->a, add->b), std::pair(add->b, add->a)}) {
      const int32_t source = producer[static_cast<size_t>(product)];
      auto* matmul =
          source == kNone ? nullptr : std::get_if<MatMulOp>(&graph.ops[static_cast<size_t>(source)].attributes);
      if (matmul == nullptr || matmul->residual != kNone || uses[static_cast<size_t>(product)] != 1) continue;
      if (producer[static_cast<size_t>(residual)] > source) continue;
      matmul->residual = residual;
      graph.ops[static_cast<size_t>(source)].output = graph.ops[i].output;
      dropped[i] = true;
      break;
    }
  }
  std::vector<Op> kept;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(graph.ops[i]));
  }
  graph.ops = std::move(kept);
}

StepKind KindOf(const Op& op) {
  if (std::holds_alternative<MatMulOp>(op.attributes)) return StepKind::kMatMul;
  if (std::holds_alternative<AttentionOp>(op.attributes)) return StepKind::kAttention;
  return StepKind::kRows;
}

RowSpace RowsOf(const Graph& graph, const Op& op) {
  return op.output == kNone ? RowSpace::kAll : graph.values[static_cast<size_t>(op.output)].rows;
}

// May `op` join the products of `step`? They share x, and it does not read what they make.
bool JoinsProducts(const Graph& graph, const FusedStep& step, const Op& op) {
  if (step.ops.size() >= MatMulParams::kMaxOutputs) return false;
  const auto& candidate = std::get<MatMulOp>(op.attributes);
  for (const int32_t index : step.ops) {
    const Op& member = graph.ops[static_cast<size_t>(index)];
    if (std::get<MatMulOp>(member.attributes).x != candidate.x || member.output == candidate.residual) return false;
  }
  return true;
}

std::vector<FusedStep> GroupOps(const Graph& graph) {
  std::vector<FusedStep> steps;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    const StepKind kind = KindOf(op);
    const RowSpace rows = RowsOf(graph, op);
    const bool joins = !steps.empty() && steps.back().kind == kind && steps.back().rows == rows &&
                       kind != StepKind::kAttention &&
                       (kind == StepKind::kRows || JoinsProducts(graph, steps.back(), op));
    if (!joins) steps.push_back(FusedStep{kind, rows, {}, {}});
    steps.back().ops.push_back(static_cast<int32_t>(i));
  }
  return steps;
}

bool NeedsInt8Input(const Graph& graph, const Op& op) {
  const auto& matmul = std::get<MatMulOp>(op.attributes);
  return ActivationFormatFor(graph.weights[static_cast<size_t>(matmul.w)].dtype) == ActivationFormat::kInt8Per32;
}

// Products with quantised weights read int8 rows: these are made at the end of the row pipeline that makes the input,
// or in a step of their own.
void InsertQuantization(const Graph& graph, std::vector<FusedStep>& steps) {
  std::vector<int32_t> step_of(graph.values.size(), kNone);
  std::set<ValueId> done;
  std::vector<FusedStep> result;
  for (FusedStep& step : steps) {
    if (step.kind == StepKind::kMatMul) {
      const Op& first = graph.ops[static_cast<size_t>(step.ops.front())];
      const ValueId x = std::get<MatMulOp>(first.attributes).x;
      const bool needed = std::any_of(step.ops.begin(), step.ops.end(), [&](int32_t op) {
        return NeedsInt8Input(graph, graph.ops[static_cast<size_t>(op)]);
      });
      if (needed && done.insert(x).second) {
        FusedStep* maker = &result[static_cast<size_t>(step_of[static_cast<size_t>(x)])];
        if (maker->kind != StepKind::kRows) {
          result.push_back(FusedStep{StepKind::kRows, graph.values[static_cast<size_t>(x)].rows, {}, {}});
          maker = &result.back();
        }
        maker->quantize.push_back(x);
      }
    }
    for (const int32_t op : step.ops) {
      const ValueId output = graph.ops[static_cast<size_t>(op)].output;
      if (output != kNone) step_of[static_cast<size_t>(output)] = static_cast<int32_t>(result.size());
    }
    result.push_back(std::move(step));
  }
  steps = std::move(result);
}

}  // namespace

FusedGraph Fuse(Graph graph) {
  FoldResiduals(graph);
  FusedGraph fused{std::move(graph), {}};
  fused.steps = GroupOps(fused.graph);
  InsertQuantization(fused.graph, fused.steps);
  return fused;
}

}  // namespace candor
