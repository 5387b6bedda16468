// The typed getters of ModelFile.
#include <cmath>
#include <limits>
#include <optional>

#include "base/printable.h"
#include "formats/model_file.h"

namespace candor {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

// What a value is, for "got …".
std::string Describe(const MetadataValue& value) {
  return std::visit(
      Overloaded{
          [](uint64_t number) { return fmt::format("the integer {}", number); },
          [](int64_t number) { return fmt::format("the integer {}", number); },
          [](double number) { return fmt::format("the float {}", number); },
          [](bool truth) { return fmt::format("the bool {}", truth); },
          [](const std::string& text) { return fmt::format("the string '{}'", Printable(text, 40)); },
          [](const std::vector<uint64_t>& list) { return fmt::format("an array of {} integers", list.size()); },
          [](const std::vector<int64_t>& list) { return fmt::format("an array of {} integers", list.size()); },
          [](const std::vector<double>& list) { return fmt::format("an array of {} floats", list.size()); },
          [](const std::vector<float>& list) { return fmt::format("an array of {} floats", list.size()); },
          [](const std::vector<bool>& list) { return fmt::format("an array of {} bools", list.size()); },
          [](const std::vector<std::string_view>& list) { return fmt::format("an array of {} strings", list.size()); },
      },
      value);
}

Status Absent(const ModelFile& file, std::string_view key) {
  return NotFoundError("{}: expected metadata key '{}', got none; the file lacks what this model needs", file.path(),
                       key);
}

Status WrongType(const ModelFile& file, std::string_view key, std::string_view expected, const MetadataValue& got) {
  return InvalidArgumentError("{}: metadata key '{}': expected {}, got {}; the file is damaged or was made wrongly",
                              file.path(), key, expected, Describe(got));
}

template <typename Integer>
std::optional<uint32_t> AsU32(Integer value) {
  if constexpr (std::is_signed_v<Integer>) {
    if (value < 0) return std::nullopt;
  }
  if (static_cast<uint64_t>(value) > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(value);
}

std::optional<uint32_t> AsU32(const MetadataValue& value) {
  if (const auto* number = std::get_if<uint64_t>(&value)) return AsU32(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) return AsU32(*number);
  return std::nullopt;
}

// Every entry of an integer array by `convert` (which gives nullopt for what does not fit).
template <typename Out, typename In, typename Convert>
std::optional<std::vector<Out>> ConvertAll(const std::vector<In>& list, Convert convert) {
  std::vector<Out> out;
  out.reserve(list.size());
  for (const In entry : list) {
    const std::optional<Out> converted = convert(entry);
    if (!converted) return std::nullopt;
    out.push_back(*converted);
  }
  return out;
}

template <typename Integer>
std::optional<int32_t> AsI32(Integer value) {
  if constexpr (std::is_signed_v<Integer>) {
    if (value < std::numeric_limits<int32_t>::min()) return std::nullopt;
  }
  if (value > static_cast<Integer>(std::numeric_limits<int32_t>::max())) return std::nullopt;
  return static_cast<int32_t>(value);
}

// A getter's answer, or the fallback when the key is absent.
template <typename T>
Result<T> OrFallback(const ModelFile& file, std::string_view key, Result<T> result, T fallback) {
  if (file.FindMetadata(key) == nullptr) return fallback;
  return result;
}

}  // namespace

Result<uint32_t> ModelFile::GetU32(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  const auto number = AsU32(*value);
  if (!number) return WrongType(*this, key, "an integer from 0 to 4294967295", *value);
  return *number;
}

Result<float> ModelFile::GetF32(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  const auto* number = std::get_if<double>(value);
  if (number == nullptr || !std::isfinite(static_cast<float>(*number)))
    return WrongType(*this, key, "a finite 32-bit float", *value);
  return static_cast<float>(*number);
}

Result<bool> ModelFile::GetBool(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  const auto* truth = std::get_if<bool>(value);
  if (truth == nullptr) return WrongType(*this, key, "a bool", *value);
  return *truth;
}

Result<std::string_view> ModelFile::GetString(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr) return WrongType(*this, key, "a string", *value);
  return std::string_view(*text);
}

Result<std::span<const std::string_view>> ModelFile::GetStrings(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  const auto* list = std::get_if<std::vector<std::string_view>>(value);
  if (list == nullptr) return WrongType(*this, key, "an array of strings", *value);
  return std::span<const std::string_view>(*list);
}

Result<uint32_t> ModelFile::GetU32Or(std::string_view key, uint32_t fallback) const {
  return OrFallback(*this, key, GetU32(key), fallback);
}
Result<float> ModelFile::GetF32Or(std::string_view key, float fallback) const {
  return OrFallback(*this, key, GetF32(key), fallback);
}
Result<bool> ModelFile::GetBoolOr(std::string_view key, bool fallback) const {
  return OrFallback(*this, key, GetBool(key), fallback);
}
Result<std::string_view> ModelFile::GetStringOr(std::string_view key, std::string_view fallback) const {
  return OrFallback(*this, key, GetString(key), fallback);
}

Result<std::vector<uint32_t>> ModelFile::GetU32PerLayer(std::string_view key, size_t count) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  if (const auto scalar = AsU32(*value)) return std::vector<uint32_t>(count, *scalar);
  std::optional<std::vector<uint32_t>> list;
  if (const auto* entries = std::get_if<std::vector<uint64_t>>(value))
    list = ConvertAll<uint32_t>(*entries, AsU32<uint64_t>);
  if (const auto* entries = std::get_if<std::vector<int64_t>>(value))
    list = ConvertAll<uint32_t>(*entries, AsU32<int64_t>);
  if (!list || list->size() != count) {
    return WrongType(*this, key, fmt::format("one integer from 0 to 4294967295, or {} of them (one per layer)", count),
                     *value);
  }
  return *std::move(list);
}

Result<std::vector<float>> ModelFile::GetF32Array(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  if (const auto* list = std::get_if<std::vector<float>>(value)) return *list;
  if (const auto* list = std::get_if<std::vector<double>>(value)) return std::vector<float>(list->begin(), list->end());
  return WrongType(*this, key, "an array of floats", *value);
}

Result<std::vector<int32_t>> ModelFile::GetI32Array(std::string_view key) const {
  const MetadataValue* value = FindMetadata(key);
  if (value == nullptr) return Absent(*this, key);
  std::optional<std::vector<int32_t>> list;
  if (const auto* entries = std::get_if<std::vector<uint64_t>>(value))
    list = ConvertAll<int32_t>(*entries, AsI32<uint64_t>);
  if (const auto* entries = std::get_if<std::vector<int64_t>>(value))
    list = ConvertAll<int32_t>(*entries, AsI32<int64_t>);
  if (!list) return WrongType(*this, key, "an array of 32-bit integers", *value);
  return *std::move(list);
}

}  // namespace candor
