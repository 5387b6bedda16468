// llama: pre-norm decoder, adjacent rotary pairs, silu; biases where the file has them. Source: Touvron et al. 2023;
// llama 3 rotary scaling comes as the tensor rope_freqs.weight.
#include "models/blocks/config_reader.h"
#include "models/blocks/decoder_blocks.h"
#include "models/families.h"

namespace candor {

Result<ModelConfig> ReadLlamaConfig(const ModelFile& file) {
  CANDOR_ASSIGN_OR_RETURN(const uint32_t experts, file.GetU32Or("llama.expert_count", 0));
  if (experts != 0) {
    return UnimplementedError(
        "{}: key 'llama.expert_count': expected 0 (a dense model), got {}; mixtures of experts in the llama family "
        "are not supported",
        file.path(), experts);
  }
  return ReadDenseConfig(file, 10000.0);
}

Result<Graph> BuildLlama(const ModelFile& file, const ModelConfig& config) {
  PreNormDecoder decoder;
  decoder.attention.pairing = RopePairing::kAdjacent;
  return BuildPreNormDecoder(file, config, decoder);
}

}  // namespace candor
