// Graph: the ops of one model, in the order of the paper, on named values with a symbolic row count. Built once per
// model by models/<family>.cc. It knows shapes and weights by name and type; no bytes, no device.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/gated_activation/gated_activation.h"
#include "kernels/rope/rope.h"
#include "tensor/dtype.h"

namespace candor {

using ValueId = int32_t;
using WeightId = int32_t;
inline constexpr int32_t kNone = -1;

// Which rows a value has: every row of the step, or only those whose logits are asked for.
enum class RowSpace { kAll, kLogits };

struct Value {
  std::string name;   // "blk.3.attn_q"
  int64_t width = 0;  // values per row
  RowSpace rows = RowSpace::kAll;
};

// A weight by its name in the file. A matrix has shape [cols in, rows out]; a vector has cols only (rows == 0) and is
// kept as f32.
struct Weight {
  std::string name;
  DType dtype = DType::kF32;
  int64_t cols = 0;
  int64_t rows = 0;
  bool is_matrix() const { return rows > 0; }
};

// One rotary kind: the inverse frequencies after all scaling.
struct RopeSpec {
  std::vector<double> inverse_frequency;  // n_rot / 2
  float magnitude = 1.0f;
  RopePairing pairing = RopePairing::kHalf;
  int32_t n_rot() const { return static_cast<int32_t>(2 * inverse_frequency.size()); }
};

struct EmbeddingOp {
  WeightId table;
  float scale;
};
struct RopeTableOp {
  RopeSpec spec;
};
struct RmsNormOp {
  ValueId x;
  WeightId w;      // width entries, or kNone
  int64_t groups;  // groups of width / groups values
  float eps;
};
struct MatMulOp {
  ValueId x;
  WeightId w;
  WeightId bias;     // or kNone
  ValueId residual;  // or kNone; set by fusion
};
struct RopeOp {
  ValueId x;  // rotated in place: the output shares its storage
  ValueId table;
  int32_t heads;
  int32_t head_dim;
  RopePairing pairing;
};
struct KvWriteOp {
  ValueId k;
  ValueId v;
  int32_t layer;
};
struct AttentionOp {
  ValueId q;
  int32_t layer;
  int32_t heads;
  float scale;
  float softcap;
};
struct GatedActivationOp {
  ValueId gate;
  ValueId up;
  Activation activation;
};
struct AddOp {
  ValueId a;
  ValueId b;
};
struct SelectRowsOp {
  ValueId x;  // kAll; the output has the rows whose logits are asked for
};

using OpAttributes = std::variant<EmbeddingOp, RopeTableOp, RmsNormOp, MatMulOp, RopeOp, KvWriteOp, AttentionOp,
                                  GatedActivationOp, AddOp, SelectRowsOp>;

struct Op {
  OpAttributes attributes;
  ValueId output = kNone;  // kNone: kv_write
};

const char* OpName(const Op& op);
std::vector<ValueId> OpInputs(const Op& op);

// What a layer keeps of its past.
struct KvLayer {
  int32_t kv_heads = 0;
  int32_t key_dim = 0;
  int32_t value_dim = 0;
  int32_t window = 0;  // 0: attends to everything
};

struct Graph {
  std::vector<Value> values;
  std::vector<Weight> weights;
  std::vector<Op> ops;
  std::vector<KvLayer> kv_layers;
  ValueId logits = kNone;
};

// Adds ops; every method returns the op's output. Shapes are the caller's contract: checked with CANDOR_CHECK, since
// the family code has compared every tensor with its config before.
class GraphBuilder {
 public:
  WeightId AddWeight(Weight weight);
  int32_t AddKvLayer(const KvLayer& layer);

  ValueId Embedding(std::string name, WeightId table, float scale);
  ValueId RopeTable(std::string name, RopeSpec spec);
  ValueId RmsNorm(std::string name, ValueId x, WeightId w, float eps, int64_t groups = 1);
  ValueId MatMul(std::string name, ValueId x, WeightId w, WeightId bias = kNone);
  ValueId Rope(std::string name, ValueId x, ValueId table, int32_t heads, RopePairing pairing);
  void KvWrite(int32_t layer, ValueId k, ValueId v);
  ValueId Attention(std::string name, ValueId q, int32_t layer, int32_t heads, float scale, float softcap = 0.0f);
  ValueId GatedActivation(std::string name, ValueId gate, ValueId up, Activation activation);
  ValueId Add(std::string name, ValueId a, ValueId b);
  ValueId SelectRows(std::string name, ValueId x);
  Graph Finish(ValueId logits);

 private:
  ValueId NewValue(std::string name, int64_t width, RowSpace rows);
  ValueId Append(OpAttributes attributes, std::string name, int64_t width, RowSpace rows);
  const Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  const Weight& weight(WeightId id) const { return graph_.weights[static_cast<size_t>(id)]; }
  Graph graph_;
};

}  // namespace candor
