#include "graph/graph.h"

#include "base/check.h"

namespace candor {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

const char* OpName(const Op& op) {
  static constexpr const char* kNames[] = {"embedding", "rope_table", "rms_norm",         "matmul", "rope",
                                           "kv_write",  "attention",  "gated_activation", "add",    "select_rows"};
  static_assert(std::size(kNames) == std::variant_size_v<OpAttributes>);
  return kNames[op.attributes.index()];
}

std::vector<ValueId> OpInputs(const Op& op) {
  return std::visit(
      Overloaded{
          [](const EmbeddingOp&) { return std::vector<ValueId>{}; },
          [](const RopeTableOp&) { return std::vector<ValueId>{}; },
          [](const RmsNormOp& a) { return std::vector<ValueId>{a.x}; },
          [](const MatMulOp& a) {
            return a.residual == kNone ? std::vector<ValueId>{a.x} : std::vector<ValueId>{a.x, a.residual};
          },
          [](const RopeOp& a) {
            return std::vector<ValueId>{a.x, a.table};
          },
          [](const KvWriteOp& a) {
            return std::vector<ValueId>{a.k, a.v};
          },
          [](const AttentionOp& a) { return std::vector<ValueId>{a.q}; },
          [](const GatedActivationOp& a) {
            return std::vector<ValueId>{a.gate, a.up};
          },
          [](const AddOp& a) {
            return std::vector<ValueId>{a.a, a.b};
          },
          [](const SelectRowsOp& a) { return std::vector<ValueId>{a.x}; },
      },
      op.attributes);
}

WeightId GraphBuilder::AddWeight(Weight weight) {
  graph_.weights.push_back(std::move(weight));
  return static_cast<WeightId>(graph_.weights.size() - 1);
}

int32_t GraphBuilder::AddKvLayer(const KvLayer& layer) {
  graph_.kv_layers.push_back(layer);
  return static_cast<int32_t>(graph_.kv_layers.size() - 1);
}

ValueId GraphBuilder::NewValue(std::string name, int64_t width, RowSpace rows) {
  graph_.values.push_back(Value{std::move(name), width, rows});
  return static_cast<ValueId>(graph_.values.size() - 1);
}

ValueId GraphBuilder::Append(OpAttributes attributes, std::string name, int64_t width, RowSpace rows) {
  const ValueId output = NewValue(std::move(name), width, rows);
  graph_.ops.push_back(Op{std::move(attributes), output});
  return output;
}

ValueId GraphBuilder::Embedding(std::string name, WeightId table, float scale) {
  return Append(EmbeddingOp{table, scale}, std::move(name), weight(table).cols, RowSpace::kAll);
}

ValueId GraphBuilder::RopeTable(std::string name, RopeSpec spec) {
  const int32_t width = spec.n_rot();
  return Append(RopeTableOp{std::move(spec)}, std::move(name), width, RowSpace::kAll);
}

ValueId GraphBuilder::RmsNorm(std::string name, ValueId x, WeightId w, float eps, int64_t groups) {
  const Value input = value(x);
  CANDOR_CHECK(input.width % groups == 0, name);
  CANDOR_CHECK(w == kNone || weight(w).cols == input.width / groups, name);
  return Append(RmsNormOp{x, w, groups, eps}, std::move(name), input.width, input.rows);
}

ValueId GraphBuilder::MatMul(std::string name, ValueId x, WeightId w, WeightId bias) {
  const Value input = value(x);
  CANDOR_CHECK(weight(w).cols == input.width, name);
  CANDOR_CHECK(bias == kNone || weight(bias).cols == weight(w).rows, name);
  return Append(MatMulOp{x, w, bias, kNone}, std::move(name), weight(w).rows, input.rows);
}

ValueId GraphBuilder::Rope(std::string name, ValueId x, ValueId table, int32_t heads, RopePairing pairing) {
  const int64_t width = value(x).width;
  CANDOR_CHECK(width % heads == 0, name);
  return Append(RopeOp{x, table, heads, static_cast<int32_t>(width / heads), pairing}, std::move(name), width,
                RowSpace::kAll);
}

void GraphBuilder::KvWrite(int32_t layer, ValueId k, ValueId v) {
  graph_.ops.push_back(Op{KvWriteOp{k, v, layer}, kNone});
}

ValueId GraphBuilder::Attention(std::string name, ValueId q, int32_t layer, int32_t heads, float scale, float softcap) {
  const KvLayer& kv = graph_.kv_layers[static_cast<size_t>(layer)];
  CANDOR_CHECK(heads % kv.kv_heads == 0, name);
  CANDOR_CHECK(value(q).width == int64_t{heads} * kv.key_dim, name);
  return Append(AttentionOp{q, layer, heads, scale, softcap}, std::move(name), int64_t{heads} * kv.value_dim,
                RowSpace::kAll);
}

ValueId GraphBuilder::GatedActivation(std::string name, ValueId gate, ValueId up, Activation activation) {
  const Value input = value(gate);
  CANDOR_CHECK(value(up).width == input.width, name);
  return Append(GatedActivationOp{gate, up, activation}, std::move(name), input.width, input.rows);
}

ValueId GraphBuilder::Add(std::string name, ValueId a, ValueId b) {
  const Value input = value(a);
  CANDOR_CHECK(value(b).width == input.width && value(b).rows == input.rows, name);
  return Append(AddOp{a, b}, std::move(name), input.width, input.rows);
}

ValueId GraphBuilder::SelectRows(std::string name, ValueId x) {
  return Append(SelectRowsOp{x}, std::move(name), value(x).width, RowSpace::kLogits);
}

Graph GraphBuilder::Finish(ValueId logits) {
  graph_.logits = logits;
  return std::move(graph_);
}

}  // namespace candor
