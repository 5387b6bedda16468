// qwen3: half-split rotary pairs, every head of q and k normed before its rotation, no biases. Source: Qwen team,
// "Qwen3 Technical Report", 2025.
#include "models/blocks/config_reader.h"
#include "models/blocks/decoder_blocks.h"
#include "models/families.h"

namespace candor {

Result<ModelConfig> ReadQwen3Config(const ModelFile& file) { return ReadDenseConfig(file, 1000000.0); }

Result<Graph> BuildQwen3(const ModelFile& file, const ModelConfig& config) {
  PreNormDecoder decoder;
  decoder.attention.pairing = RopePairing::kHalf;
  decoder.attention.qk_norm = true;
  return BuildPreNormDecoder(file, config, decoder);
}

}  // namespace candor
