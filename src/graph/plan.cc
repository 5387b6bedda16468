#include "graph/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/matmul/matmul.h"

namespace candor {
namespace {

constexpr uint64_t kAlignment = 64;

// A value in one of its forms, with the steps between which its bytes must stay.
struct Life {
  uint64_t* offset = nullptr;
  uint64_t bytes = 0;
  size_t first_step = 0;
  size_t last_step = 0;
};

// The value whose storage a value shares: rope works in place.
std::vector<ValueId> StorageRoots(const Graph& graph) {
  std::vector<ValueId> root(graph.values.size());
  for (size_t i = 0; i < root.size(); ++i) root[i] = static_cast<ValueId>(i);
  for (const Op& op : graph.ops) {
    if (const auto* rope = std::get_if<RopeOp>(&op.attributes))
      root[static_cast<size_t>(op.output)] = root[static_cast<size_t>(rope->x)];
  }
  return root;
}

struct Interval {
  size_t first = ~size_t{0};
  size_t last = 0;
  void Extend(size_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
  bool used() const { return first != ~size_t{0}; }
};

class Placer {
 public:
  void Place(std::vector<Life> lives) {
    std::stable_sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.bytes > b.bytes; });
    for (const Life& life : lives) PlaceOne(life);
  }
  uint64_t total() const { return total_; }

 private:
  // First fit among the lives already placed that overlap in time.
  void PlaceOne(const Life& life) {
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (const Life& other : placed_) {
      if (other.first_step <= life.last_step && life.first_step <= other.last_step)
        taken.emplace_back(*other.offset, other.bytes);
    }
    std::sort(taken.begin(), taken.end());
    uint64_t offset = 0;
    for (const auto& [begin, bytes] : taken) {
      if (offset + life.bytes <= begin) break;
      offset = std::max(offset, begin + bytes);
    }
    *life.offset = offset;
    placed_.push_back(life);
    total_ = std::max(total_, offset + life.bytes);
  }

  std::vector<Life> placed_;
  uint64_t total_ = 0;
};

uint64_t RoundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void PlaceValues(Plan& plan) {
  const Graph& graph = plan.graph;
  const size_t count = graph.values.size();
  const std::vector<ValueId> root = StorageRoots(graph);
  std::vector<Interval> floats(count), quantized(count);
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    for (const int32_t index : plan.steps[step].ops) {
      const Op& op = graph.ops[static_cast<size_t>(index)];
      for (const ValueId input : OpInputs(op))
        floats[static_cast<size_t>(root[static_cast<size_t>(input)])].Extend(step);
      if (op.output != kNone) floats[static_cast<size_t>(root[static_cast<size_t>(op.output)])].Extend(step);
      if (const auto* matmul = std::get_if<MatMulOp>(&op.attributes)) {
        if (quantized[static_cast<size_t>(matmul->x)].used()) quantized[static_cast<size_t>(matmul->x)].Extend(step);
      }
    }
    for (const ValueId value : plan.steps[step].quantize) {
      floats[static_cast<size_t>(root[static_cast<size_t>(value)])].Extend(step);
      quantized[static_cast<size_t>(value)].Extend(step);
    }
  }

  plan.float_offset.assign(count, Plan::kUnplaced);
  plan.quantized_offset.assign(count, Plan::kUnplaced);
  std::vector<Life> lives;
  for (size_t i = 0; i < count; ++i) {
    const int64_t width = graph.values[i].width;
    if (floats[i].used() && static_cast<ValueId>(i) != graph.logits) {
      lives.push_back({&plan.float_offset[i], RoundUp(static_cast<uint64_t>(plan.max_rows * width) * sizeof(float)),
                       floats[i].first, floats[i].last});
    }
    if (quantized[i].used()) {
      lives.push_back({&plan.quantized_offset[i], RoundUp(QuantizedRowsBytes(plan.max_rows, width)), quantized[i].first,
                       quantized[i].last});
    }
  }
  Placer placer;
  placer.Place(std::move(lives));
  const size_t logits = static_cast<size_t>(graph.logits);
  plan.float_offset[logits] = placer.total();
  plan.scratch_bytes =
      placer.total() + RoundUp(static_cast<uint64_t>(plan.max_rows * graph.values[logits].width) * sizeof(float));
  for (size_t i = 0; i < count; ++i) plan.float_offset[i] = plan.float_offset[static_cast<size_t>(root[i])];
}

std::string StepText(const Plan& plan, const FusedStep& step) {
  static constexpr const char* kKinds[] = {"rows", "matmul", "attention"};
  std::string text =
      fmt::format("{:9} {:6}", kKinds[static_cast<int>(step.kind)], step.rows == RowSpace::kAll ? "all" : "logits");
  for (const int32_t index : step.ops) {
    const Op& op = plan.graph.ops[static_cast<size_t>(index)];
    text += fmt::format("  {}", OpName(op));
    if (op.output != kNone) {
      const Value& value = plan.graph.values[static_cast<size_t>(op.output)];
      text += fmt::format(" {}[{}]", value.name, value.width);
    }
    if (const auto* matmul = std::get_if<MatMulOp>(&op.attributes)) {
      const Weight& weight = plan.graph.weights[static_cast<size_t>(matmul->w)];
      text += fmt::format(" = {} {}{}", weight.name, DTypeName(weight.dtype),
                          matmul->residual == kNone ? "" : " + residual");
    }
  }
  for (const ValueId value : step.quantize)
    text += fmt::format("  quantize {}", plan.graph.values[static_cast<size_t>(value)].name);
  return text;
}

}  // namespace

Plan MakePlan(Graph graph, int64_t max_rows) {
  FusedGraph fused = Fuse(std::move(graph));
  Plan plan;
  plan.graph = std::move(fused.graph);
  plan.steps = std::move(fused.steps);
  plan.max_rows = max_rows;
  PlaceValues(plan);
  return plan;
}

std::string Plan::ToText() const {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) text += fmt::format("{:4} {}\n", i, StepText(*this, steps[i]));
  return text;
}

}  // namespace candor
