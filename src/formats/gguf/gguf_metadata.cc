#include "formats/gguf/gguf_metadata.h"

#include <unordered_set>

#include "base/printable.h"
#include "formats/gguf/gguf_format.h"
#include "formats/gguf/gguf_names.h"

namespace candor {
namespace {

// How values of one stored type are kept: the variant's member for one value and for an array.
template <typename Stored>
auto Widen(Stored value) {
  if constexpr (std::is_floating_point_v<Stored>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<Stored>) {
    return static_cast<int64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

template <typename Stored>
bool ReadNumber(GgufCursor& cursor, MetadataValue& out) {
  Stored value;
  if (!cursor.Read(value)) return false;
  out = Widen(value);
  return true;
}

template <typename Stored, typename Kept>
bool ReadNumbers(GgufCursor& cursor, uint64_t count, MetadataValue& out) {
  const std::byte* at =
      cursor.Take(count * sizeof(Stored));  // no overflow: the caller has bounded the count by the file's size
  if (at == nullptr) return false;
  std::vector<Kept> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, at + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<Kept>(value);
  }
  out = std::move(values);
  return true;
}

Status CheckBool(uint8_t value) {
  if (value <= 1) return OkStatus();
  return DataLossError("expected a bool of 0 or 1, got {}; the file is damaged: fetch it again", value);
}

Status ReadBools(GgufCursor& cursor, uint64_t count, MetadataValue& out) {
  const std::byte* at = cursor.Take(count);
  if (at == nullptr) return cursor.status();
  std::vector<bool> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto value = static_cast<uint8_t>(at[i]);
    CANDOR_RETURN_IF_ERROR(CheckBool(value));
    values[i] = value == 1;
  }
  out = std::move(values);
  return OkStatus();
}

bool ReadStrings(GgufCursor& cursor, uint64_t count, MetadataValue& out) {
  std::vector<std::string_view> values(count);
  for (std::string_view& value : values) {
    if (!cursor.ReadString(value)) return false;
  }
  out = std::move(values);
  return true;
}

// Bytes that one value takes at least; 0 for a type that an array cannot have.
uint64_t LeastBytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kString:
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

Status ReadElements(GgufCursor& cursor, GgufType type, uint64_t count, MetadataValue& out) {
  bool read = false;
  switch (type) {
    case GgufType::kU8:
      read = ReadNumbers<uint8_t, uint64_t>(cursor, count, out);
      break;
    case GgufType::kI8:
      read = ReadNumbers<int8_t, int64_t>(cursor, count, out);
      break;
    case GgufType::kU16:
      read = ReadNumbers<uint16_t, uint64_t>(cursor, count, out);
      break;
    case GgufType::kI16:
      read = ReadNumbers<int16_t, int64_t>(cursor, count, out);
      break;
    case GgufType::kU32:
      read = ReadNumbers<uint32_t, uint64_t>(cursor, count, out);
      break;
    case GgufType::kI32:
      read = ReadNumbers<int32_t, int64_t>(cursor, count, out);
      break;
    case GgufType::kF32:
      read = ReadNumbers<float, float>(cursor, count, out);
      break;
    case GgufType::kU64:
      read = ReadNumbers<uint64_t, uint64_t>(cursor, count, out);
      break;
    case GgufType::kI64:
      read = ReadNumbers<int64_t, int64_t>(cursor, count, out);
      break;
    case GgufType::kF64:
      read = ReadNumbers<double, double>(cursor, count, out);
      break;
    case GgufType::kString:
      read = ReadStrings(cursor, count, out);
      break;
    case GgufType::kBool:
      return ReadBools(cursor, count, out);
    case GgufType::kArray:
      break;  // refused by ReadArray
  }
  return read ? OkStatus() : cursor.status();
}

Status ReadArray(GgufCursor& cursor, MetadataValue& out) {
  uint32_t type_id = 0;
  uint64_t count = 0;
  if (!cursor.Read(type_id) || !cursor.Read(count)) return cursor.status();
  const auto type = static_cast<GgufType>(type_id);
  if (type == GgufType::kArray)
    return UnimplementedError("expected an array of plain values, got an array of arrays; convert the model again");
  const uint64_t least = LeastBytes(type);
  if (least == 0)
    return DataLossError("expected an array element type from 0 to 12, got {}; the file is damaged: fetch it again",
                         type_id);
  if (count > cursor.remaining() / least) {
    return DataLossError(
        "expected at most {} array entries in the rest of the file, got a count of {}; the file is truncated or "
        "damaged: "
        "fetch it again",
        cursor.remaining() / least, count);
  }
  if (count * least > kGgufMaxHeaderBytes) {
    return ResourceExhaustedError(
        "expected an array inside a header of at most {}, got a count of {}; the file is damaged",
        FormatBytes(kGgufMaxHeaderBytes), count);
  }
  return ReadElements(cursor, type, count, out);
}

Status ReadBool(GgufCursor& cursor, MetadataValue& out) {
  uint8_t value = 0;
  if (!cursor.Read(value)) return cursor.status();
  CANDOR_RETURN_IF_ERROR(CheckBool(value));
  out = value == 1;
  return OkStatus();
}

bool ReadText(GgufCursor& cursor, MetadataValue& out) {
  std::string_view text;
  if (!cursor.ReadString(text)) return false;
  out = std::string(text);
  return true;
}

Status ReadValue(GgufCursor& cursor, MetadataValue& out) {
  uint32_t type_id = 0;
  if (!cursor.Read(type_id)) return cursor.status();
  bool read = false;
  switch (static_cast<GgufType>(type_id)) {
    case GgufType::kU8:
      read = ReadNumber<uint8_t>(cursor, out);
      break;
    case GgufType::kI8:
      read = ReadNumber<int8_t>(cursor, out);
      break;
    case GgufType::kU16:
      read = ReadNumber<uint16_t>(cursor, out);
      break;
    case GgufType::kI16:
      read = ReadNumber<int16_t>(cursor, out);
      break;
    case GgufType::kU32:
      read = ReadNumber<uint32_t>(cursor, out);
      break;
    case GgufType::kI32:
      read = ReadNumber<int32_t>(cursor, out);
      break;
    case GgufType::kF32:
      read = ReadNumber<float>(cursor, out);
      break;
    case GgufType::kU64:
      read = ReadNumber<uint64_t>(cursor, out);
      break;
    case GgufType::kI64:
      read = ReadNumber<int64_t>(cursor, out);
      break;
    case GgufType::kF64:
      read = ReadNumber<double>(cursor, out);
      break;
    case GgufType::kString:
      read = ReadText(cursor, out);
      break;
    case GgufType::kBool:
      return ReadBool(cursor, out);
    case GgufType::kArray:
      return ReadArray(cursor, out);
    default:
      return DataLossError("expected a value type from 0 to 12, got {}; the file is damaged: fetch it again", type_id);
  }
  return read ? OkStatus() : cursor.status();
}

}  // namespace

Result<Metadata> ReadMetadata(GgufCursor& cursor, uint64_t count) {
  Metadata metadata;
  metadata.reserve(count);
  std::unordered_set<std::string_view> seen;
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view key;
    if (!cursor.ReadString(key)) return cursor.status().WithContext(fmt::format("key {} of {}", i + 1, count));
    CANDOR_RETURN_IF_ERROR(CheckName(key, kGgufMaxKeyBytes).WithContext(fmt::format("key {} of {}", i + 1, count)));
    if (!seen.insert(key).second) {
      return DataLossError("metadata key '{}': expected one value, got two; the file is damaged or was made wrongly",
                           Printable(key));
    }
    MetadataValue value;
    CANDOR_RETURN_IF_ERROR(ReadValue(cursor, value).WithContext(fmt::format("metadata key '{}'", Printable(key))));
    metadata.emplace_back(std::string(key), std::move(value));
  }
  return metadata;
}

const MetadataValue* FindIn(const Metadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace candor
