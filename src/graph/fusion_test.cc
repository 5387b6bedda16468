#include "graph/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/plan.h"

namespace candor {
namespace {

// One pre-norm layer with quantised products, and a head.
Graph SmallGraph(DType dtype) {
  GraphBuilder g;
  const WeightId embedding = g.AddWeight({"token_embd.weight", dtype, 32, 100});
  const WeightId norm = g.AddWeight({"norm", DType::kF32, 32, 0});
  const WeightId square = g.AddWeight({"square", dtype, 32, 32});
  const ValueId x = g.Embedding("x", embedding, 1.0f);
  const ValueId table = g.RopeTable("rope", RopeSpec{{1.0, 0.5, 0.25, 0.125}, 1.0f, RopePairing::kHalf});
  const ValueId h = g.RmsNorm("h", x, norm, 1e-5f);
  ValueId q = g.MatMul("q", h, square);
  ValueId k = g.MatMul("k", h, square);
  const ValueId v = g.MatMul("v", h, square);
  q = g.Rope("q_rotated", q, table, 4, RopePairing::kHalf);
  k = g.Rope("k_rotated", k, table, 4, RopePairing::kHalf);
  const int32_t kv = g.AddKvLayer({4, 8, 8, 0});
  g.KvWrite(kv, k, v);
  const ValueId a = g.Attention("attention", q, kv, 4, 1.0f);
  const ValueId y = g.Add("residual", g.MatMul("o", a, square), x);
  const ValueId selected = g.SelectRows("selected", y);
  return g.Finish(g.MatMul("logits", g.RmsNorm("out_norm", selected, norm, 1e-5f), embedding));
}

std::vector<StepKind> Kinds(const FusedGraph& fused) {
  std::vector<StepKind> kinds;
  for (const FusedStep& step : fused.steps) kinds.push_back(step.kind);
  return kinds;
}

TEST(Fusion, ALayerBecomesTheStepsOfThePaper) {
  const FusedGraph fused = Fuse(SmallGraph(DType::kQ4_0));
  using enum StepKind;
  // embed, norm | q, k, v | rope, rope, write | attention | (quantise) | o + residual | select, norm | logits
  EXPECT_EQ(Kinds(fused), (std::vector<StepKind>{kRows, kMatMul, kRows, kAttention, kRows, kMatMul, kRows, kMatMul}));
  EXPECT_EQ(fused.steps[1].ops.size(), 3u) << "q, k and v share their input";
  EXPECT_EQ(fused.steps[0].quantize.size(), 1u) << "the norm's rows are quantised where they are made";
  EXPECT_TRUE(fused.steps[4].ops.empty());
  EXPECT_EQ(fused.steps[4].quantize.size(), 1u) << "attention's rows are quantised in a step of their own";
  EXPECT_EQ(fused.steps[6].rows, RowSpace::kLogits);
}

TEST(Fusion, FloatWeightsNeedNoQuantisedRows) {
  for (const FusedStep& step : Fuse(SmallGraph(DType::kF16)).steps) EXPECT_TRUE(step.quantize.empty());
}

TEST(Fusion, AResidualRidesInTheProductBeforeIt) {
  const FusedGraph fused = Fuse(SmallGraph(DType::kF32));
  int residuals = 0;
  for (const Op& op : fused.graph.ops) {
    EXPECT_FALSE(std::holds_alternative<AddOp>(op.attributes));
    const auto* matmul = std::get_if<MatMulOp>(&op.attributes);
    if (matmul != nullptr && matmul->residual != kNone) {
      ++residuals;
      EXPECT_EQ(fused.graph.values[static_cast<size_t>(matmul->residual)].name, "x");
      EXPECT_EQ(fused.graph.values[static_cast<size_t>(op.output)].name, "residual");
    }
  }
  EXPECT_EQ(residuals, 1);
}

TEST(Fusion, AProductThatSomeoneElseReadsKeepsItsAdd) {
  GraphBuilder g;
  const WeightId embedding = g.AddWeight({"e", DType::kF32, 8, 8});
  const ValueId x = g.Embedding("x", embedding, 1.0f);
  const ValueId y = g.MatMul("y", x, embedding);
  const ValueId sum = g.Add("sum", y, x);
  const FusedGraph fused = Fuse(g.Finish(g.Add("twice", sum, y)));
  const auto adds = std::count_if(fused.graph.ops.begin(), fused.graph.ops.end(),
                                  [](const Op& op) { return std::holds_alternative<AddOp>(op.attributes); });
  EXPECT_EQ(adds, 2);
}

TEST(Plan, ValuesThatLiveAtOnceNeverShareMemory) {
  const Plan plan = MakePlan(SmallGraph(DType::kQ4_0), 7);
  struct Use {
    uint64_t begin, end;
    size_t first, last;
    std::string name;
  };
  // Lives are worked out again here from the steps, independently of the planner's bookkeeping.
  std::vector<Use> uses;
  for (size_t v = 0; v < plan.graph.values.size(); ++v) {
    if (plan.float_offset[v] == Plan::kUnplaced) continue;
    Use use{plan.float_offset[v], plan.float_offset[v] + 7 * static_cast<uint64_t>(plan.graph.values[v].width) * 4,
            ~size_t{0}, 0, plan.graph.values[v].name};
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      bool touched =
          std::count(plan.steps[s].quantize.begin(), plan.steps[s].quantize.end(), static_cast<ValueId>(v)) > 0;
      for (const int32_t index : plan.steps[s].ops) {
        const Op& op = plan.graph.ops[static_cast<size_t>(index)];
        const std::vector<ValueId> inputs = OpInputs(op);
        touched = touched || op.output == static_cast<ValueId>(v) ||
                  std::count(inputs.begin(), inputs.end(), static_cast<ValueId>(v)) > 0;
      }
      if (touched) {
        use.first = std::min(use.first, s);
        use.last = std::max(use.last, s);
      }
    }
    uses.push_back(use);
  }
  for (const Use& a : uses) {
    EXPECT_LE(a.end, plan.scratch_bytes);
    for (const Use& b : uses) {
      if (a.name == b.name || a.begin == b.begin) continue;  // rope's output is its input's storage
      const bool same_time = a.first <= b.last && b.first <= a.last;
      const bool same_place = a.begin < b.end && b.begin < a.end;
      EXPECT_FALSE(same_time && same_place) << a.name << " and " << b.name;
    }
  }
}

TEST(Plan, TextNamesEveryStep) {
  const std::string text = MakePlan(SmallGraph(DType::kQ4_0), 4).ToText();
  EXPECT_NE(text.find("square Q4_0 + residual"), std::string::npos) << text;
  EXPECT_NE(text.find("attention"), std::string::npos);
}

}  // namespace
}  // namespace candor
