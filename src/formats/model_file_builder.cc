#include "formats/model_file_builder.h"

#include <iterator>

#include "base/check.h"

namespace candor {

ModelFileBuilder::ModelFileBuilder(std::string path) : file_(new ModelFile) { file_->path_ = std::move(path); }

int ModelFileBuilder::AddFile(std::shared_ptr<const MappedFile> file) {
  file_->files_.push_back(std::move(file));
  return static_cast<int>(file_->files_.size()) - 1;
}

void ModelFileBuilder::Hold(std::shared_ptr<const void> bytes) { file_->holders_.push_back(std::move(bytes)); }

void ModelFileBuilder::SetMetadata(std::vector<std::pair<std::string, MetadataValue>> metadata) {
  file_->metadata_ = std::move(metadata);
}

void ModelFileBuilder::AddTensors(std::vector<TensorInfo> tensors) {
  auto& all = file_->tensors_;
  if (all.empty()) {
    all = std::move(tensors);
  } else {
    all.insert(all.end(), std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
  }
}

std::shared_ptr<const ModelFile> ModelFileBuilder::Build() {
  // Only now, when nothing moves any more: the indices hold views of the names.
  ModelFile& file = *file_;
  file.tensor_index_.reserve(file.tensors_.size());
  for (size_t i = 0; i < file.tensors_.size(); ++i) {
    CANDOR_CHECK(file.tensor_index_.emplace(file.tensors_[i].name, i).second,
                 "two tensors named " + file.tensors_[i].name);
  }
  file.metadata_index_.reserve(file.metadata_.size());
  for (size_t i = 0; i < file.metadata_.size(); ++i) {
    CANDOR_CHECK(file.metadata_index_.emplace(file.metadata_[i].first, i).second,
                 "two keys named " + file.metadata_[i].first);
  }
  return std::move(file_);
}

}  // namespace candor
