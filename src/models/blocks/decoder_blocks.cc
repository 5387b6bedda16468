#include "models/blocks/decoder_blocks.h"

#include <cmath>

#include "models/blocks/rope_scaling.h"

namespace candor {

std::string LayerName(uint32_t layer, std::string_view name) { return fmt::format("blk.{}.{}", layer, name); }

namespace {

struct Projection {
  const char* name;
  int64_t width;
};

// x W^T (+ b): [rows, projection.width]
ValueId Project(ModelBuild& build, uint32_t layer, ValueId x, const Projection& projection, int64_t x_width,
                bool bias_required) {
  const std::string name = LayerName(layer, projection.name);
  const WeightId w = build.weights.Matrix(name + ".weight", x_width, projection.width);
  const WeightId bias = bias_required ? build.weights.Vector(name + ".bias", projection.width)
                                      : build.weights.OptionalVector(name + ".bias", projection.width);
  return build.graph.MatMul(name, x, w, bias);
}

// Norm (where the family has it) and rotation of the heads of q or k.
ValueId Rotate(ModelBuild& build, uint32_t layer, ValueId x, const char* name, int32_t heads,
               const SelfAttentionOptions& options) {
  const std::string base = LayerName(layer, name);
  if (options.qk_norm) {
    const WeightId norm = build.weights.Vector(base + "_norm.weight", build.config.key_dim);
    x = build.graph.RmsNorm(base + "_normed", x, norm, build.config.rms_epsilon, heads);
  }
  return build.graph.Rope(base + "_rotated", x, options.rope_table, heads, options.pairing);
}

}  // namespace

ValueId SelfAttention(ModelBuild& build, uint32_t layer, ValueId x, const SelfAttentionOptions& options) {
  const ModelConfig& c = build.config;
  const int64_t hidden = c.hidden;
  const int32_t heads = static_cast<int32_t>(c.heads), kv_heads = static_cast<int32_t>(c.kv_heads);
  ValueId q = Project(build, layer, x, {"attn_q", int64_t{c.heads} * c.key_dim}, hidden, options.bias_required);
  ValueId k = Project(build, layer, x, {"attn_k", int64_t{c.kv_heads} * c.key_dim}, hidden, options.bias_required);
  const ValueId v =
      Project(build, layer, x, {"attn_v", int64_t{c.kv_heads} * c.value_dim}, hidden, options.bias_required);
  q = Rotate(build, layer, q, "attn_q", heads, options);  // [rows, heads * key_dim]
  k = Rotate(build, layer, k, "attn_k", kv_heads, options);
  const int32_t kv =
      build.graph.AddKvLayer(KvLayer{kv_heads, static_cast<int32_t>(c.key_dim), static_cast<int32_t>(c.value_dim),
                                     static_cast<int32_t>(options.window)});
  build.graph.KvWrite(kv, k, v);
  return build.graph.Attention(LayerName(layer, "attention"), q, kv, heads,
                               options.scale);  // [rows, heads * value_dim]
}

ValueId OutputProjection(ModelBuild& build, uint32_t layer, ValueId attention) {
  return Project(build, layer, attention, {"attn_output", build.config.hidden},
                 int64_t{build.config.heads} * build.config.value_dim, false);
}

ValueId GatedFeedForward(ModelBuild& build, uint32_t layer, ValueId x, Activation activation) {
  const ValueId gate = Project(build, layer, x, {"ffn_gate", build.config.feed_forward}, build.config.hidden, false);
  const ValueId up = Project(build, layer, x, {"ffn_up", build.config.feed_forward}, build.config.hidden, false);
  const ValueId product = build.graph.GatedActivation(LayerName(layer, "ffn_act"), gate, up, activation);
  return Project(build, layer, product, {"ffn_down", build.config.hidden}, build.config.feed_forward, false);
}

ValueId OutputHead(ModelBuild& build, ValueId x, WeightId embedding) {
  const WeightId norm = build.weights.Vector("output_norm.weight", build.config.hidden);
  const ValueId normed = build.graph.RmsNorm("output_norm", x, norm, build.config.rms_epsilon);
  const WeightId head = build.config.tied_output
                            ? embedding
                            : build.weights.Matrix("output.weight", build.config.hidden, build.config.vocabulary);
  return build.graph.MatMul("logits", normed, head);
}

Result<Graph> BuildPreNormDecoder(const ModelFile& file, const ModelConfig& config, const PreNormDecoder& decoder) {
  ModelBuild build(file, config);
  CANDOR_ASSIGN_OR_RETURN(const RopeScaling scaling, ReadRopeScaling(file, config));
  std::vector<float> divisors;
  if (build.weights.Has("rope_freqs.weight")) divisors = build.weights.Values("rope_freqs.weight", config.n_rot / 2);
  SelfAttentionOptions attention = decoder.attention;
  attention.rope_table = build.graph.RopeTable(
      "rope", MakeRopeSpec(static_cast<int32_t>(config.n_rot), config.rope_base, scaling, divisors, attention.pairing));
  attention.scale = 1.0f / std::sqrt(static_cast<float>(config.key_dim));

  const WeightId embedding = build.weights.Matrix("token_embd.weight", config.hidden, config.vocabulary);
  ValueId x = build.graph.Embedding("embedding", embedding, 1.0f);  // [rows, hidden]
  for (uint32_t layer = 0; layer < config.layers; ++layer) {
    const WeightId attn_norm = build.weights.Vector(LayerName(layer, "attn_norm.weight"), config.hidden);
    ValueId h = build.graph.RmsNorm(LayerName(layer, "attn_norm"), x, attn_norm, config.rms_epsilon);
    h = SelfAttention(build, layer, h, attention);
    if (layer + 1 == config.layers) {  // from here on only the rows whose logits are asked for matter
      h = build.graph.SelectRows("attention_selected", h);
      x = build.graph.SelectRows("x_selected", x);
    }
    x = build.graph.Add(LayerName(layer, "attn_residual"), OutputProjection(build, layer, h), x);
    const WeightId ffn_norm = build.weights.Vector(LayerName(layer, "ffn_norm.weight"), config.hidden);
    h = build.graph.RmsNorm(LayerName(layer, "ffn_norm"), x, ffn_norm, config.rms_epsilon);
    x = build.graph.Add(LayerName(layer, "ffn_residual"), GatedFeedForward(build, layer, h, decoder.activation), x);
  }
  const ValueId logits = OutputHead(build, x, embedding);
  CANDOR_RETURN_IF_ERROR(build.weights.Finish());
  return build.graph.Finish(logits);
}

}  // namespace candor
