#include "formats/gguf/gguf_header.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/printable.h"
#include "formats/gguf/gguf_cursor.h"
#include "formats/gguf/gguf_format.h"
#include "formats/gguf/gguf_tensors.h"
#include "formats/gguf/header_bytes.h"

namespace candor {
namespace {

Status ReadMagic(GgufCursor& cursor) {
  const uint64_t length = std::min<uint64_t>(cursor.remaining(), kGgufMagic.size());
  const std::byte* at = cursor.Take(length);
  if (at == nullptr) return cursor.status();
  const std::string_view magic(reinterpret_cast<const char*>(at), length);
  if (magic == kGgufMagic) return OkStatus();
  return InvalidArgumentError(
      "expected a GGUF model file (its first bytes are 'GGUF'), got '{}'; check that this is the model file",
      Printable(magic));
}

Status ReadVersion(GgufCursor& cursor, uint32_t& version) {
  if (!cursor.Read(version)) return cursor.status().WithContext("version");
  constexpr uint32_t kLow16 = 0xFFFF;
  if (version != 0 && (version & kLow16) == 0) {
    return UnimplementedError(
        "expected a little-endian GGUF file, got a big-endian one; convert the model again for little endian");
  }
  if (version < kGgufOldestVersion || version > kGgufNewestVersion) {
    return UnimplementedError(
        "expected GGUF version {} or {}, got version {}; convert the model again with a current converter",
        kGgufOldestVersion, kGgufNewestVersion, version);
  }
  return OkStatus();
}

Status ReadCount(GgufCursor& cursor, std::string_view what, uint64_t& count) {
  if (!cursor.Read(count)) return cursor.status().WithContext(fmt::format("number of {}", what));
  if (count > kGgufMaxEntries) {
    return DataLossError("number of {}: expected at most {}, got {}; the file is damaged: fetch it again", what,
                         kGgufMaxEntries, count);
  }
  return OkStatus();
}

// `least_bytes`: what one entry takes at least, so that a lying count is caught before anything is allocated.
Status CheckCountFits(const GgufCursor& cursor, std::string_view what, uint64_t count, uint64_t least_bytes) {
  if (count <= cursor.remaining() / least_bytes) return OkStatus();
  return DataLossError(
      "number of {}: expected at most {} in the rest of the file, got {}; the file is truncated or damaged: fetch it "
      "again",
      what, cursor.remaining() / least_bytes, count);
}

Result<uint64_t> AlignmentOf(const Metadata& metadata) {
  const MetadataValue* value = FindIn(metadata, "general.alignment");
  if (value == nullptr) return uint64_t{kGgufDefaultAlignment};
  const auto* alignment = std::get_if<uint64_t>(value);
  if (alignment == nullptr) {
    return DataLossError(
        "metadata key 'general.alignment': expected an unsigned integer, got another type; the file is damaged: fetch "
        "it again");
  }
  if (!IsPowerOfTwo(*alignment)) {
    return DataLossError(
        "metadata key 'general.alignment': expected a power of two, got {}; the file is damaged: fetch it again",
        *alignment);
  }
  return *alignment;
}

Status ReadAll(GgufCursor& cursor, GgufHeader& header) {
  constexpr uint64_t kLeastKeyBytes = 8 + 1 + 4 + 1;  // length, a letter, type, a value
  constexpr uint64_t kLeastTensorBytes =
      8 + 1 + 4 + 8 + 4 + 8;  // length, a letter, dimensions, one of them, type, offset
  uint64_t tensor_count = 0;
  uint64_t key_count = 0;
  CANDOR_RETURN_IF_ERROR(ReadMagic(cursor));
  CANDOR_RETURN_IF_ERROR(ReadVersion(cursor, header.version));
  CANDOR_RETURN_IF_ERROR(ReadCount(cursor, "tensors", tensor_count));
  CANDOR_RETURN_IF_ERROR(ReadCount(cursor, "metadata keys", key_count));
  CANDOR_RETURN_IF_ERROR(CheckCountFits(cursor, "metadata keys", key_count, kLeastKeyBytes));
  CANDOR_ASSIGN_OR_RETURN(header.metadata, ReadMetadata(cursor, key_count));
  CANDOR_ASSIGN_OR_RETURN(const uint64_t alignment, AlignmentOf(header.metadata));
  CANDOR_RETURN_IF_ERROR(CheckCountFits(cursor, "tensors", tensor_count, kLeastTensorBytes));
  CANDOR_ASSIGN_OR_RETURN(header.tensors, ReadTensors(cursor, tensor_count, alignment));
  return OkStatus();
}

}  // namespace

Result<GgufHeader> ReadGgufHeader(const std::shared_ptr<const MappedFile>& file) {
  CANDOR_ASSIGN_OR_RETURN(auto bytes, HeaderBytes::Open(file, kGgufMaxHeaderBytes));
  GgufCursor cursor(bytes);
  GgufHeader header;
  header.bytes = bytes;
  CANDOR_RETURN_IF_ERROR(ReadAll(cursor, header).WithContext(file->path()));
  return header;
}

}  // namespace candor
