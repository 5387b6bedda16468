// qwen2: the llama form with half-split rotary pairs and biases on q, k and v. Source: Qwen team, "Qwen2 Technical
// Report", 2024.
#include "models/blocks/config_reader.h"
#include "models/blocks/decoder_blocks.h"
#include "models/families.h"

namespace candor {

Result<ModelConfig> ReadQwen2Config(const ModelFile& file) { return ReadDenseConfig(file, 10000.0); }

Result<Graph> BuildQwen2(const ModelFile& file, const ModelConfig& config) {
  PreNormDecoder decoder;
  decoder.attention.pairing = RopePairing::kHalf;
  decoder.attention.bias_required = true;
  return BuildPreNormDecoder(file, config, decoder);
}

}  // namespace candor
