#include "formats/model_file.h"

#include "base/check.h"
#include "base/checked_math.h"

namespace candor {

const TensorInfo* ModelFile::FindTensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

std::span<const std::byte> ModelFile::Data(const TensorInfo& tensor) const {
  return files_[static_cast<size_t>(tensor.file_index)]->bytes().subspan(tensor.offset, tensor.bytes);
}

Status ModelFile::ReadTensor(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const {
  CANDOR_CHECK(RangeFits(offset, out.size(), tensor.bytes), "read outside of tensor " + tensor.name);
  return files_[static_cast<size_t>(tensor.file_index)]
      ->ReadAt(tensor.offset + offset, out)
      .WithContext(fmt::format("tensor '{}'", tensor.name));
}

void ModelFile::WillNeed(const TensorInfo& tensor) const {
  files_[static_cast<size_t>(tensor.file_index)]->WillNeed(tensor.offset, tensor.bytes);
}

void ModelFile::DropPages(const TensorInfo& tensor) const {
  files_[static_cast<size_t>(tensor.file_index)]->Drop(tensor.offset, tensor.bytes);
}

uint64_t ModelFile::TotalTensorBytes() const {
  uint64_t total = 0;
  for (const TensorInfo& tensor : tensors_) total += tensor.bytes;
  return total;
}

uint64_t ModelFile::FileBytes() const {
  uint64_t total = 0;
  for (const auto& file : files_) total += file->size();
  return total;
}

Status ModelFile::CheckUnchanged() const {
  for (const auto& file : files_) CANDOR_RETURN_IF_ERROR(file->CheckUnchanged());
  return OkStatus();
}

const MetadataValue* ModelFile::FindMetadata(std::string_view key) const {
  const auto found = metadata_index_.find(key);
  return found == metadata_index_.end() ? nullptr : &metadata_[found->second].second;
}

}  // namespace candor
