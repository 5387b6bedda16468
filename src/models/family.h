// Families: how a model file of an architecture becomes a config and a graph. One file per family, one row in the
// registry.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/model_file.h"
#include "graph/graph.h"
#include "models/model_config.h"

namespace candor {

struct Family {
  std::string_view architecture;
  // Reads and checks the metadata. Errors name the key.
  Result<ModelConfig> (*read_config)(const ModelFile& file);
  // Builds the graph. Errors name the tensor: missing, wrong shape.
  Result<Graph> (*build_graph)(const ModelFile& file, const ModelConfig& config);
};

const std::vector<Family>& Families();

// The family of the file's general.architecture. Unimplemented lists the known ones; NotFound when the key is missing.
Result<const Family*> FindFamily(const ModelFile& file);

}  // namespace candor
