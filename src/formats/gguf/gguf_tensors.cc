#include "formats/gguf/gguf_tensors.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked_math.h"
#include "base/printable.h"
#include "formats/gguf/gguf_format.h"
#include "formats/gguf/gguf_names.h"

namespace candor {
namespace {

Status ReadShape(GgufCursor& cursor, std::vector<int64_t>& shape) {
  uint32_t dimensions = 0;
  if (!cursor.Read(dimensions)) return cursor.status();
  if (dimensions < 1 || dimensions > kGgufMaxDimensions) {
    return DataLossError("expected 1 to {} dimensions, got {}; the file is damaged: fetch it again", kGgufMaxDimensions,
                         dimensions);
  }
  shape.resize(dimensions);
  for (uint32_t i = 0; i < dimensions; ++i) {
    if (!cursor.Read(shape[i])) return cursor.status();
    if (shape[i] < 1)
      return DataLossError("dimension {}: expected at least 1, got {}; the file is damaged: fetch it again", i,
                           shape[i]);
  }
  return OkStatus();
}

// Bytes of the whole tensor. Every row (shape[0]) must be whole blocks, and the element count must fit an int64.
Result<uint64_t> TensorBytes(const TensorInfo& tensor) {
  const auto row_bytes = BytesOf(tensor.dtype, static_cast<uint64_t>(tensor.shape[0]));
  if (!row_bytes) {
    return DataLossError(
        "expected rows of a multiple of {} elements for {}, got {}; the file is damaged: fetch it again",
        Traits(tensor.dtype).block_elements, DTypeName(tensor.dtype), tensor.shape[0]);
  }
  std::optional<uint64_t> bytes = *row_bytes;
  std::optional<uint64_t> elements = static_cast<uint64_t>(tensor.shape[0]);
  for (size_t i = 1; i < tensor.shape.size(); ++i) {
    const auto dimension = static_cast<uint64_t>(tensor.shape[i]);
    if (bytes) bytes = CheckedMul(*bytes, dimension);
    if (elements) elements = CheckedMul(*elements, dimension);
  }
  if (!bytes || !elements || *elements > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return DataLossError("expected a size that fits 63 bits, got the shape [{}]; the file is damaged: fetch it again",
                         fmt::join(tensor.shape, ", "));
  }
  return *bytes;
}

// tensor.offset is still relative to the data section afterwards.
Status ReadTensor(GgufCursor& cursor, TensorInfo& tensor) {
  CANDOR_RETURN_IF_ERROR(ReadShape(cursor, tensor.shape));
  uint32_t type_id = 0;
  if (!cursor.Read(type_id) || !cursor.Read(tensor.offset)) return cursor.status();
  const DTypeTraits* traits = FindDType(type_id);
  if (traits == nullptr) {
    return UnimplementedError(
        "expected a tensor type that Candor computes, got {} (id {}); use a file in another quantization, such as "
        "Q4_K_M",
        GgmlTypeName(type_id), type_id);
  }
  tensor.dtype = traits->dtype;
  CANDOR_ASSIGN_OR_RETURN(tensor.bytes, TensorBytes(tensor));
  return OkStatus();
}

Status Place(TensorInfo& tensor, uint64_t data_begin, uint64_t alignment, uint64_t file_size) {
  if (tensor.offset % alignment != 0) {
    return DataLossError("expected an offset that is a multiple of {}, got {}; the file is damaged: fetch it again",
                         alignment, tensor.offset);
  }
  const auto absolute = CheckedAdd(data_begin, tensor.offset);
  if (!absolute || !RangeFits(*absolute, tensor.bytes, file_size)) {
    return DataLossError(
        "expected {} bytes at offset {} of the data (which begins at {}), got a file of {} bytes; the file is "
        "truncated or "
        "damaged: fetch it again",
        tensor.bytes, tensor.offset, data_begin, file_size);
  }
  tensor.offset = *absolute;
  return OkStatus();
}

// Two tensors on the same bytes are a lying offset: the model would run on wrong weights.
Status CheckNoOverlap(const std::vector<TensorInfo>& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tensors[a].offset < tensors[b].offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = tensors[order[i - 1]];
    const TensorInfo& after = tensors[order[i]];
    if (before.offset + before.bytes > after.offset) {
      return DataLossError(
          "tensors '{}' and '{}': expected separate bytes, got an overlap at offset {}; the file is damaged: fetch it "
          "again",
          Printable(before.name), Printable(after.name), after.offset);
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<TensorInfo>> ReadTensors(GgufCursor& cursor, uint64_t count, uint64_t alignment) {
  std::vector<TensorInfo> tensors(count);
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view name;
    if (!cursor.ReadString(name)) return cursor.status().WithContext(fmt::format("tensor {} of {}", i + 1, count));
    CANDOR_RETURN_IF_ERROR(
        CheckName(name, kGgufMaxTensorNameBytes).WithContext(fmt::format("tensor {} of {}", i + 1, count)));
    tensors[i].name = std::string(name);
    CANDOR_RETURN_IF_ERROR(ReadTensor(cursor, tensors[i]).WithContext(fmt::format("tensor '{}'", Printable(name))));
  }
  const auto data_begin = CheckedAlignUp(cursor.position(), alignment);
  if (!data_begin)
    return DataLossError("expected a data section inside the file, got an alignment of {}; the file is damaged",
                         alignment);
  for (TensorInfo& tensor : tensors) {
    CANDOR_RETURN_IF_ERROR(Place(tensor, *data_begin, alignment, cursor.file_size())
                               .WithContext(fmt::format("tensor '{}'", Printable(tensor.name))));
  }
  CANDOR_RETURN_IF_ERROR(CheckNoOverlap(tensors));
  return tensors;
}

}  // namespace candor
