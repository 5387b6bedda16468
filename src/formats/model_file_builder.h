// ModelFileBuilder: how a format's reader fills a ModelFile. Used by one thread, once.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/model_file.h"

namespace candor {

class ModelFileBuilder {
 public:
  explicit ModelFileBuilder(std::string path);

  // Index for TensorInfo::file_index.
  int AddFile(std::shared_ptr<const MappedFile> file);
  // Keeps alive what string views in the metadata point to.
  void Hold(std::shared_ptr<const void> bytes);
  // Keys must be unique; the reader has checked it, with its own sentence.
  void SetMetadata(std::vector<std::pair<std::string, MetadataValue>> metadata);
  // Names must be unique, too.
  void AddTensors(std::vector<TensorInfo> tensors);

  // The finished file; the builder is empty afterwards.
  std::shared_ptr<const ModelFile> Build();

 private:
  std::shared_ptr<ModelFile> file_;
};

}  // namespace candor
