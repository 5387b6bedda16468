// What one GPU launch does together, on a small decoder layer.
#include "graph/gpu_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace candor {
namespace {

struct LayerOptions {
  DType dtype = DType::kQ4_0;
  bool qk_norm = true;
  bool normed_twice = false;  // somebody else reads the first norm too
};

// One pre-norm layer of 64 values, two heads of 32, one KV head.
Graph Layer(const LayerOptions& options) {
  GraphBuilder b;
  const auto matrix = [&](const char* name, int64_t cols, int64_t rows) {
    return b.AddWeight({name, options.dtype, cols, rows});
  };
  const auto vector = [&](const char* name, int64_t cols) { return b.AddWeight({name, DType::kF32, cols, 0}); };
  ValueId x = b.Embedding("x", matrix("embedding", 64, 100), 1.0f);
  const ValueId table = b.RopeTable("rope", RopeSpec{std::vector<double>(16, 0.5), 1.0f, RopePairing::kHalf});
  const ValueId h = b.RmsNorm("norm", x, vector("norm.w", 64), 1e-5f);
  ValueId q = b.MatMul("q", h, matrix("q.w", 64, 64));
  ValueId k = b.MatMul("k", h, matrix("k.w", 64, 32));
  const ValueId v = b.MatMul("v", h, matrix("v.w", 64, 32));
  if (options.qk_norm) {
    q = b.RmsNorm("q_normed", q, vector("q_norm.w", 32), 1e-5f, 2);
    k = b.RmsNorm("k_normed", k, vector("k_norm.w", 32), 1e-5f, 1);
  }
  q = b.Rope("q_rotated", q, table, 2, RopePairing::kHalf);
  k = b.Rope("k_rotated", k, table, 1, RopePairing::kHalf);
  const int32_t layer = b.AddKvLayer({1, 32, 32, 0});
  b.KvWrite(layer, k, v);
  const ValueId attention = b.Attention("attention", q, layer, 2, 0.2f);
  x = b.Add("residual", b.MatMul("o", attention, matrix("o.w", 64, 64)), x);
  if (options.normed_twice) x = b.Add("twice", x, h);
  const ValueId h2 = b.RmsNorm("norm2", x, vector("norm2.w", 64), 1e-5f);
  const ValueId gate = b.MatMul("gate", h2, matrix("gate.w", 64, 128));
  const ValueId up = b.MatMul("up", h2, matrix("up.w", 64, 128));
  const ValueId act = b.GatedActivation("act", gate, up, Activation::kSilu);
  x = b.Add("residual2", b.MatMul("down", act, matrix("down.w", 128, 64)), x);
  return b.Finish(b.MatMul("logits", x, matrix("head", 64, 100)));
}

std::vector<std::string> FusedIntoDecode(const Plan& plan, const GpuFusion& fusion) {
  std::vector<std::string> names;
  for (size_t op = 0; op < plan.graph.ops.size(); ++op) {
    if (fusion.in_decode_products[op])
      names.push_back(plan.graph.values[static_cast<size_t>(plan.graph.ops[op].output)].name);
  }
  return names;
}

const PreparedHeads* Prepared(const GpuFusion& fusion) {
  const auto found = std::find_if(fusion.prepared.begin(), fusion.prepared.end(),
                                  [](const PreparedHeads& heads) { return heads.kv_write != kNone; });
  return found == fusion.prepared.end() ? nullptr : &*found;
}

TEST(GpuFusion, NormsAndGatedUnitsJoinTheirProducts) {
  const Plan plan = MakePlan(Layer({}), 1);
  EXPECT_EQ(FusedIntoDecode(plan, GpuFusion(plan)), (std::vector<std::string>{"norm", "norm2", "act"}));
}

TEST(GpuFusion, ANormThatOthersReadStays) {
  const Plan plan = MakePlan(Layer({.normed_twice = true}), 1);
  EXPECT_EQ(FusedIntoDecode(plan, GpuFusion(plan)), (std::vector<std::string>{"norm2", "act"}));
}

TEST(GpuFusion, PlainNumbersHaveNoDecodeLaunches) {
  const Plan plan = MakePlan(Layer({.dtype = DType::kF16}), 1);
  EXPECT_TRUE(FusedIntoDecode(plan, GpuFusion(plan)).empty());
}

TEST(GpuFusion, HeadsArePreparedByOneLaunch) {
  for (const bool qk_norm : {false, true}) {
    const Plan plan = MakePlan(Layer({.qk_norm = qk_norm}), 1);
    const GpuFusion fusion(plan);
    const PreparedHeads* heads = Prepared(fusion);
    ASSERT_NE(heads, nullptr);
    EXPECT_EQ(plan.graph.values[static_cast<size_t>(heads->q)].name, "q");
    EXPECT_EQ(plan.graph.values[static_cast<size_t>(heads->k)].name, "k");
    EXPECT_EQ(plan.graph.values[static_cast<size_t>(heads->prepared_q)].name, "q_rotated");
    EXPECT_EQ(heads->q_norm != kNone, qk_norm);
    EXPECT_EQ(std::count(fusion.in_prepared.begin(), fusion.in_prepared.end(), true), qk_norm ? 4 : 2);
  }
}

// Whatever a launch reads must not lie where it writes.
TEST(GpuFusion, InputsAndOutputsOfALaunchDoNotOverlap) {
  for (const int64_t rows : {1, 3, 64}) {
    const Plan plan = MakePlan(Layer({}), rows);
    const GpuFusion fusion(plan);
    const auto offset = [&](ValueId id) { return plan.float_offset[static_cast<size_t>(id)]; };
    for (size_t step = 0; step < plan.steps.size(); ++step) {
      const FusedProducts& fused = fusion.products[step];
      if (fused.norm == kNone) continue;
      const ValueId x = std::get<RmsNormOp>(plan.graph.ops[static_cast<size_t>(fused.norm)].attributes).x;
      for (const int32_t op : plan.steps[step].ops) {
        if (fused.gated == kNone) {
          EXPECT_NE(offset(x), offset(plan.graph.ops[static_cast<size_t>(op)].output));
        }
      }
      if (fused.gated != kNone) {
        EXPECT_NE(offset(x), offset(plan.graph.ops[static_cast<size_t>(fused.gated)].output));
      }
    }
  }
}

}  // namespace
}  // namespace candor
