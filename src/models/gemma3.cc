// gemma3: scaled embedding, norms before and after attention and feed-forward, normed heads of q and k, five
// sliding-window layers for each global one with their own rotary base, tanh-gelu. Source: Gemma team, "Gemma 3
// Technical Report", 2025.
#include <cmath>

#include "models/blocks/config_reader.h"
#include "models/blocks/decoder_blocks.h"
#include "models/blocks/rope_scaling.h"
#include "models/families.h"

namespace candor {
namespace {

constexpr uint32_t kDefaultPattern = 6;  // layer i is global iff (i + 1) % 6 == 0
constexpr uint32_t kLayersOf27B = 62;    // scales its queries by hidden / heads instead of the head size

Status RefuseSoftcap(const ModelFile& file, std::string_view name) {
  CANDOR_ASSIGN_OR_RETURN(const float cap, file.GetF32Or(ArchitectureKey(file, name), 0.0f));
  if (cap == 0.0f) return OkStatus();
  return UnimplementedError("{}: key '{}': expected none in the gemma3 family, got {}", file.path(),
                            ArchitectureKey(file, name), cap);
}

// x + norm(block(norm(x)))
ValueId AddNormed(ModelBuild& build, uint32_t layer, ValueId x, ValueId branch, const char* norm_name) {
  const WeightId norm = build.weights.Vector(LayerName(layer, norm_name) + ".weight", build.config.hidden);
  const ValueId normed = build.graph.RmsNorm(LayerName(layer, norm_name), branch, norm, build.config.rms_epsilon);
  return build.graph.Add(LayerName(layer, norm_name) + "_residual", x, normed);
}

ValueId Norm(ModelBuild& build, uint32_t layer, ValueId x, const char* name) {
  const WeightId norm = build.weights.Vector(LayerName(layer, name) + ".weight", build.config.hidden);
  return build.graph.RmsNorm(LayerName(layer, name), x, norm, build.config.rms_epsilon);
}

}  // namespace

Result<ModelConfig> ReadGemma3Config(const ModelFile& file) {
  CANDOR_ASSIGN_OR_RETURN(ModelConfig config, ReadDenseConfig(file, 1000000.0));
  CANDOR_RETURN_IF_ERROR(RefuseSoftcap(file, "attn_logit_softcapping"));
  CANDOR_RETURN_IF_ERROR(RefuseSoftcap(file, "final_logit_softcapping"));
  CANDOR_ASSIGN_OR_RETURN(config.sliding_window, file.GetU32Or("gemma3.attention.sliding_window", 0));
  CANDOR_ASSIGN_OR_RETURN(const uint32_t pattern,
                          file.GetU32Or("gemma3.attention.sliding_window_pattern", kDefaultPattern));
  CANDOR_ASSIGN_OR_RETURN(const float local_base, file.GetF32Or("gemma3.rope.freq_base_swa", 10000.0f));
  if (pattern == 0 || !std::isfinite(local_base) || local_base <= 0.0f || config.sliding_window > 1u << 30) {
    return DataLossError(
        "{}: expected a positive sliding_window_pattern and freq_base_swa, and a sliding_window up to 2^30, got {}, {} "
        "and {}; the file is damaged",
        file.path(), pattern, local_base, config.sliding_window);
  }
  config.rope_base_local = local_base;
  for (uint32_t i = 0; i < config.layers; ++i)
    config.layer_is_local[i] = config.sliding_window > 0 && (i + 1) % pattern != 0;
  return config;
}

Result<Graph> BuildGemma3(const ModelFile& file, const ModelConfig& config) {
  ModelBuild build(file, config);
  CANDOR_ASSIGN_OR_RETURN(const RopeScaling scaling, ReadRopeScaling(file, config));
  const int32_t n_rot = static_cast<int32_t>(config.n_rot);
  SelfAttentionOptions global;
  global.qk_norm = true;
  global.scale = 1.0f / std::sqrt(static_cast<float>(config.layers == kLayersOf27B ? config.hidden / config.heads
                                                                                   : config.key_dim));
  SelfAttentionOptions local = global;
  local.window = config.sliding_window;
  global.rope_table =
      build.graph.RopeTable("rope_global", MakeRopeSpec(n_rot, config.rope_base, scaling, {}, RopePairing::kHalf));
  local.rope_table = build.graph.RopeTable(
      "rope_local", MakeRopeSpec(n_rot, config.rope_base_local, RopeScaling{}, {}, RopePairing::kHalf));

  const WeightId embedding = build.weights.Matrix("token_embd.weight", config.hidden, config.vocabulary);
  ValueId x =
      build.graph.Embedding("embedding", embedding, std::sqrt(static_cast<float>(config.hidden)));  // [rows, hidden]
  for (uint32_t layer = 0; layer < config.layers; ++layer) {
    ValueId h = Norm(build, layer, x, "attn_norm");
    h = SelfAttention(build, layer, h, config.layer_is_local[layer] ? local : global);
    if (layer + 1 == config.layers) {  // from here on only the rows whose logits are asked for matter
      h = build.graph.SelectRows("attention_selected", h);
      x = build.graph.SelectRows("x_selected", x);
    }
    x = AddNormed(build, layer, x, OutputProjection(build, layer, h), "post_attention_norm");
    h = Norm(build, layer, x, "ffn_norm");
    x = AddNormed(build, layer, x, GatedFeedForward(build, layer, h, Activation::kGeluTanh), "post_ffw_norm");
  }
  const ValueId logits = OutputHead(build, x, embedding);
  CANDOR_RETURN_IF_ERROR(build.weights.Finish());
  return build.graph.Finish(logits);
}

}  // namespace candor
