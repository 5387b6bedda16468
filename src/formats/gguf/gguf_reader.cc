#include "formats/gguf/gguf_reader.h"

#include <unordered_map>

#include "base/printable.h"
#include "formats/gguf/gguf_header.h"
#include "formats/gguf/gguf_split.h"
#include "formats/model_file_builder.h"

namespace candor {
namespace {

// All parts of a model, in order.
struct Parts {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<GgufHeader> headers;
};

Status CheckIsPart(const GgufHeader& header, uint64_t number, uint64_t count) {
  CANDOR_ASSIGN_OR_RETURN(const GgufSplit split, ReadSplit(header.metadata));
  if (split.count == count && split.number == number) return OkStatus();
  return DataLossError(
      "expected part {} of {} (split.no, split.count), got part {} of {}; the parts do not belong together: fetch them "
      "again",
      number + 1, count, split.number + 1, split.count);
}

Status AddFurtherParts(const PartOpener& open_part, const GgufSplit& split, Parts& parts) {
  const std::string first_path = parts.files[0]->path();
  if (split.number != 0) {
    return InvalidArgumentError(
        "{}: expected the first part of a split model, got part {} of {}; open the file '…-00001-of-{:05}.gguf'",
        first_path, split.number + 1, split.count, split.count);
  }
  for (uint64_t number = 1; number < split.count; ++number) {
    CANDOR_ASSIGN_OR_RETURN(const std::string path, SplitPath(first_path, number, split.count));
    auto file = open_part(path);
    if (!file.ok())
      return file.status().WithContext(fmt::format("part {} of {} of the model", number + 1, split.count));
    CANDOR_ASSIGN_OR_RETURN(GgufHeader header, ReadGgufHeader(*file));
    CANDOR_RETURN_IF_ERROR(CheckIsPart(header, number, split.count).WithContext(path));
    parts.files.push_back(*std::move(file));
    parts.headers.push_back(std::move(header));
  }
  return OkStatus();
}

Status CheckTensorCount(const GgufSplit& split, const Parts& parts) {
  if (split.count == 1) return OkStatus();
  uint64_t total = 0;
  for (const GgufHeader& header : parts.headers) total += header.tensors.size();
  if (total == split.tensors) return OkStatus();
  return DataLossError(
      "{}: expected {} tensors in all parts (split.tensors.count), got {}; the parts do not belong together: fetch "
      "them again",
      parts.files[0]->path(), split.tensors, total);
}

Status CheckUniqueNames(const Parts& parts) {
  std::unordered_map<std::string_view, size_t> part_of;
  for (size_t part = 0; part < parts.headers.size(); ++part) {
    for (const TensorInfo& tensor : parts.headers[part].tensors) {
      const auto [other, is_new] = part_of.emplace(tensor.name, part);
      if (is_new) continue;
      return DataLossError(
          "{}: tensor '{}': expected one of that name, got another in {}; the file is damaged or was made wrongly",
          parts.files[part]->path(), Printable(tensor.name), parts.files[other->second]->path());
    }
  }
  return OkStatus();
}

std::shared_ptr<const ModelFile> Assemble(Parts parts) {
  ModelFileBuilder builder(parts.files[0]->path());
  for (size_t part = 0; part < parts.headers.size(); ++part) {
    const int index = builder.AddFile(parts.files[part]);
    for (TensorInfo& tensor : parts.headers[part].tensors) tensor.file_index = index;
    builder.AddTensors(std::move(parts.headers[part].tensors));
  }
  builder.SetMetadata(std::move(parts.headers[0].metadata));
  builder.Hold(std::move(parts.headers[0].bytes));
  return builder.Build();
}

}  // namespace

Result<std::shared_ptr<const ModelFile>> OpenGguf(const std::shared_ptr<const MappedFile>& first,
                                                  const PartOpener& open_part) {
  Parts parts;
  CANDOR_ASSIGN_OR_RETURN(GgufHeader header, ReadGgufHeader(first));
  const auto split = ReadSplit(header.metadata);
  if (!split.ok()) return split.status().WithContext(first->path());
  parts.files.push_back(first);
  parts.headers.push_back(std::move(header));
  if (split->count > 1) CANDOR_RETURN_IF_ERROR(AddFurtherParts(open_part, *split, parts));
  CANDOR_RETURN_IF_ERROR(CheckTensorCount(*split, parts));
  CANDOR_RETURN_IF_ERROR(CheckUniqueNames(parts));
  return Assemble(std::move(parts));
}

}  // namespace candor
