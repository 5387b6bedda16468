// Blocks that the dense decoder families share. Each reads like its formula; names are those of the GGUF tensors.
#pragma once

#include <string>

#include "formats/model_file.h"
#include "graph/graph.h"
#include "models/blocks/weight_table.h"
#include "models/model_config.h"

namespace candor {

// What a family needs while it builds its graph.
struct ModelBuild {
  ModelBuild(const ModelFile& model_file, const ModelConfig& model_config)
      : file(model_file), config(model_config), weights(file, graph) {}
  const ModelFile& file;
  const ModelConfig& config;
  GraphBuilder graph;
  WeightTable weights;
};

// "blk.3.attn_q"
std::string LayerName(uint32_t layer, std::string_view name);

struct SelfAttentionOptions {
  ValueId rope_table = kNone;
  RopePairing pairing = RopePairing::kHalf;
  float scale = 1.0f;
  uint32_t window = 0;
  bool qk_norm = false;        // RMSNorm of every head of q and k before the rotation
  bool bias_required = false;  // biases on q, k, v must be there; else they are taken when they are
};
// softmax(q k^T) v of one layer, before the output projection. x: [rows, hidden], normed.
ValueId SelfAttention(ModelBuild& build, uint32_t layer, ValueId x, const SelfAttentionOptions& options);

// attn_output (with its bias, if the file has one).
ValueId OutputProjection(ModelBuild& build, uint32_t layer, ValueId attention);

// W_down (act(W_gate x) * (W_up x))
ValueId GatedFeedForward(ModelBuild& build, uint32_t layer, ValueId x, Activation activation);

// Final norm and output matrix (the embedding's, when tied). `x` has the rows whose logits are asked for.
ValueId OutputHead(ModelBuild& build, ValueId x, WeightId embedding);

// Embedding, layers with norms before attention and feed-forward, head: the form of llama and qwen. `attention` tells
// what differs.
struct PreNormDecoder {
  SelfAttentionOptions attention;  // rope_table is filled in
  Activation activation = Activation::kSilu;
};
Result<Graph> BuildPreNormDecoder(const ModelFile& file, const ModelConfig& config, const PreNormDecoder& decoder);

}  // namespace candor
