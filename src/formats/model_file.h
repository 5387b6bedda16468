// ModelFile: what every model file format is read into. Metadata, a tensor directory and the files that hold the bytes.
// It knows formats, not models. Read-only after opening; thread safe.
//
// A file that shrinks while it is in use never ends the process if tensors are read with ReadTensor(): metadata and
// directory are in memory since opening, and tensor bytes come by pread (DataLoss when they are gone). Data() is the
// mapping itself, where a vanished page is a SIGBUS that CheckUnchanged() makes unlikely but cannot rule out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/status.h"
#include "platform/mapped_file.h"
#include "tensor/dtype.h"

namespace candor {

// A typed metadata value. Integers keep their sign class; arrays are homogeneous and never nested. Arrays of strings
// are views into the file's header, which is held in memory (a vocabulary of 262k tokens costs one copy in all); they
// live as long as the ModelFile. Strings from a file may be anything, invalid UTF-8 included; keys and tensor names are
// checked UTF-8 without control characters.
using MetadataValue =
    std::variant<uint64_t, int64_t, double, bool, std::string, std::vector<uint64_t>, std::vector<int64_t>,
                 std::vector<double>, std::vector<float>, std::vector<bool>, std::vector<std::string_view>>;

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t>
      shape;  // GGUF order: shape[0] is the contiguous dimension ([in, out] of a linear weight); 1..4 entries, all >= 1
  int file_index = 0;   // which mapping
  uint64_t offset = 0;  // absolute, in that mapping
  uint64_t bytes = 0;
};

class ModelFile {
 public:
  const std::string& path() const { return path_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* FindTensor(std::string_view name) const;
  std::span<const std::byte> Data(const TensorInfo& tensor) const;  // the mapping: see above

  // Copies the tensor's bytes [offset, offset + out.size()) into `out` without touching the mapping. The range must lie
  // inside the tensor. DataLoss (names the tensor) when the file has shrunk, Unavailable on a read error.
  Status ReadTensor(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const;

  // The tensor will be read soon: the system may fetch it now.
  void WillNeed(const TensorInfo& tensor) const;

  uint64_t TotalTensorBytes() const;
  uint64_t FileBytes() const;

  // The tensor's pages may leave memory (its values have been copied elsewhere); reading them again would fetch them
  // from the file.
  void DropPages(const TensorInfo& tensor) const;

  // Did the file shrink since it was mapped? Called before long reads, so that truncation is an error and not a SIGBUS.
  Status CheckUnchanged() const;

  const std::vector<std::pair<std::string, MetadataValue>>& metadata() const { return metadata_; }  // in file order
  const MetadataValue* FindMetadata(std::string_view key) const;

  // Typed getters. NotFound when the key is absent, InvalidArgument (key, expected, got) when it has another type or is
  // out of range. Integer getters accept every integer type whose value fits; a float must be finite.
  Result<uint32_t> GetU32(std::string_view key) const;
  Result<float> GetF32(std::string_view key) const;  // f32, f64; an integer is not a float
  Result<bool> GetBool(std::string_view key) const;
  Result<std::string_view> GetString(std::string_view key) const;
  Result<std::span<const std::string_view>> GetStrings(std::string_view key) const;
  // The same, with a default for an absent key (a mistyped key is still an error).
  Result<uint32_t> GetU32Or(std::string_view key, uint32_t fallback) const;
  Result<float> GetF32Or(std::string_view key, float fallback) const;
  Result<bool> GetBoolOr(std::string_view key, bool fallback) const;
  Result<std::string_view> GetStringOr(std::string_view key, std::string_view fallback) const;
  // A number per layer: a scalar is repeated, an array must have exactly `count` entries.
  Result<std::vector<uint32_t>> GetU32PerLayer(std::string_view key, size_t count) const;
  Result<std::vector<float>> GetF32Array(std::string_view key) const;
  Result<std::vector<int32_t>> GetI32Array(std::string_view key) const;

 private:
  friend class ModelFileBuilder;  // formats/model_file_builder.h: filled by the readers
  ModelFile() = default;
  std::string path_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<std::shared_ptr<const void>> holders_;  // own the bytes that string views point to
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> tensor_index_;
  std::vector<std::pair<std::string, MetadataValue>> metadata_;
  std::unordered_map<std::string_view, size_t> metadata_index_;
};

// Opens a model file of any known format by its content (GGUF today), all splits included. Errors: NotFound,
// PermissionDenied, InvalidArgument (a directory, not a model file), DataLoss (truncated or contradictory),
// Unimplemented (a version or tensor type that Candor cannot read; the message names it).
Result<std::shared_ptr<const ModelFile>> OpenModelFile(const std::string& path);

}  // namespace candor
