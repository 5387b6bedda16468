// The two functions of every family, for the registry.
#pragma once

#include "base/status.h"
#include "formats/model_file.h"
#include "graph/graph.h"
#include "models/model_config.h"

namespace candor {

Result<ModelConfig> ReadLlamaConfig(const ModelFile& file);
Result<Graph> BuildLlama(const ModelFile& file, const ModelConfig& config);

Result<ModelConfig> ReadQwen2Config(const ModelFile& file);
Result<Graph> BuildQwen2(const ModelFile& file, const ModelConfig& config);

Result<ModelConfig> ReadQwen3Config(const ModelFile& file);
Result<Graph> BuildQwen3(const ModelFile& file, const ModelConfig& config);

Result<ModelConfig> ReadGemma3Config(const ModelFile& file);
Result<Graph> BuildGemma3(const ModelFile& file, const ModelConfig& config);

}  // namespace candor
