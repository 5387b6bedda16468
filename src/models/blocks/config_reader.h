// Reads the metadata that every dense decoder has, and checks that the numbers can be a model.
#pragma once

#include <string>

#include "base/status.h"
#include "formats/model_file.h"
#include "models/model_config.h"

namespace candor {

// "<architecture>.<name>", e.g. "llama.block_count".
std::string ArchitectureKey(const ModelFile& file, std::string_view name);

// layers, hidden, heads, key and value sizes, rotary base and size, epsilon, context, vocabulary, tied output.
// `default_rope_base` is the family's when the file has no key.
Result<ModelConfig> ReadDenseConfig(const ModelFile& file, double default_rope_base);

}  // namespace candor
