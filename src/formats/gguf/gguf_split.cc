#include "formats/gguf/gguf_split.h"

#include <optional>

namespace candor {
namespace {

constexpr uint64_t kMaxParts = 99'999;  // five digits in a file's name

// nullopt when absent.
Result<std::optional<uint64_t>> FindCount(const Metadata& metadata, std::string_view key) {
  const MetadataValue* value = FindIn(metadata, key);
  if (value == nullptr) return std::optional<uint64_t>();
  if (const auto* number = std::get_if<uint64_t>(value)) return std::optional<uint64_t>(*number);
  if (const auto* number = std::get_if<int64_t>(value); number != nullptr && *number >= 0) {
    return std::optional<uint64_t>(static_cast<uint64_t>(*number));
  }
  return DataLossError(
      "metadata key '{}': expected an integer of at least 0, got something else; the file is damaged: fetch it again",
      key);
}

std::string Suffix(uint64_t number, uint64_t count) { return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count); }

}  // namespace

Result<GgufSplit> ReadSplit(const Metadata& metadata) {
  GgufSplit split;
  CANDOR_ASSIGN_OR_RETURN(const auto count, FindCount(metadata, "split.count"));
  CANDOR_ASSIGN_OR_RETURN(const auto number, FindCount(metadata, "split.no"));
  CANDOR_ASSIGN_OR_RETURN(const auto tensors, FindCount(metadata, "split.tensors.count"));
  if (!count || *count <= 1) return split;
  if (*count > kMaxParts) {
    return DataLossError("metadata key 'split.count': expected at most {}, got {}; the file is damaged: fetch it again",
                         kMaxParts, *count);
  }
  if (!number || *number >= *count) {
    return DataLossError(
        "metadata key 'split.no': expected a number below {} (split.count), got {}; the file is damaged: fetch it "
        "again",
        *count, number ? fmt::format("{}", *number) : "none");
  }
  if (!tensors)
    return DataLossError(
        "metadata key 'split.tensors.count': expected an integer, got none; the file is damaged: fetch it again");
  return GgufSplit{*number, *count, *tensors};
}

Result<std::string> SplitPath(const std::string& first_path, uint64_t number, uint64_t count) {
  const std::string suffix = Suffix(0, count);
  if (!first_path.ends_with(suffix)) {
    return InvalidArgumentError(
        "{}: expected a name that ends in '{}' (the first of {} parts), got another; give the parts their original "
        "names",
        first_path, suffix, count);
  }
  return first_path.substr(0, first_path.size() - suffix.size()) + Suffix(number, count);
}

}  // namespace candor
