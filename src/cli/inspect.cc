#include "cli/inspect.h"

#include <algorithm>

#include "base/printable.h"

namespace candor::cli {
namespace {

constexpr size_t kShownValues = 8;

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

// A scalar as it is; a long array as {"count": n, "first": [...]}.
Json ValueToJson(const MetadataValue& value, bool full_arrays) {
  return std::visit(
      [&](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held> || std::is_same_v<Held, std::string>) {
          return held;
        } else {
          const bool whole = full_arrays || held.size() <= kShownValues;
          Json values = Json::array();
          for (size_t i = 0; i < (whole ? held.size() : kShownValues); ++i)
            values.push_back(typename Held::value_type(held[i]));
          return whole ? values : Json{{"count", held.size()}, {"first", values}};
        }
      },
      value);
}

// One line of at most `limit` bytes, cut between characters.
std::string Shortened(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string ValueToText(const MetadataValue& value, bool full_arrays) {
  const Json json = ValueToJson(value, full_arrays);
  if (json.is_object())
    return fmt::format("{} values, first {}", json["count"].get<size_t>(), Shortened(Dump(json["first"]), 100));
  return full_arrays ? Dump(json) : Shortened(Dump(json), 120);
}

std::string ShapeText(const std::vector<int64_t>& shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

Json TensorToJson(const TensorInfo& tensor) {
  return {{"name", tensor.name},   {"dtype", DTypeName(tensor.dtype)}, {"shape", tensor.shape},
          {"bytes", tensor.bytes}, {"offset", tensor.offset},          {"file_index", tensor.file_index}};
}

Json MemoryToJson(const MemoryEstimate& memory) {
  return {{"weights", memory.weights}, {"kv_per_token", memory.kv_per_token}, {"kv_full", memory.kv_full},
          {"scratch", memory.scratch}, {"tokenizer", memory.tokenizer},       {"total", memory.total()}};
}

std::string MetadataText(const ModelFile& file, bool full_arrays) {
  std::string text = fmt::format("metadata: {} keys\n", file.metadata().size());
  for (const auto& [key, value] : file.metadata())
    text += fmt::format("  {:<44} {}\n", EscapeControls(key), ValueToText(value, full_arrays));
  return text;
}

std::string TensorsText(const ModelFile& file) {
  std::string text = fmt::format("tensors: {}, {:.1f} MiB\n", file.tensors().size(), MiB(file.TotalTensorBytes()));
  for (const TensorInfo& tensor : file.tensors()) {
    text += fmt::format("  {:<44} {:<8} {:<24} {:>12} bytes\n", EscapeControls(tensor.name), DTypeName(tensor.dtype),
                        ShapeText(tensor.shape), tensor.bytes);
  }
  return text;
}

std::string MemoryText(const Result<MemoryEstimate>& memory) {
  if (!memory.ok())
    return fmt::format("memory: not known, this model cannot run: {}\n", EscapeControls(memory.status().message()));
  return fmt::format(
      "memory: {:.1f} MiB\n  weights {:.1f} MiB, kv cache {:.1f} MiB ({} bytes a token), scratch {:.1f} MiB, tokenizer "
      "{:.1f} MiB\n",
      MiB(memory->total()), MiB(memory->weights), MiB(memory->kv_full), memory->kv_per_token, MiB(memory->scratch),
      MiB(memory->tokenizer));
}

}  // namespace

Json InspectToJson(const ModelFile& file, const Result<MemoryEstimate>& memory, const InspectSections& sections) {
  Json json = {{"file", file.path()}, {"bytes", file.FileBytes()}};
  if (sections.metadata) {
    json["metadata"] = Json::object();
    for (const auto& [key, value] : file.metadata()) json["metadata"][key] = ValueToJson(value, sections.full_arrays);
  }
  if (sections.tensors) {
    json["tensor_bytes"] = file.TotalTensorBytes();
    json["tensors"] = Json::array();
    for (const TensorInfo& tensor : file.tensors()) json["tensors"].push_back(TensorToJson(tensor));
  }
  if (sections.memory) {
    json["memory"] = memory.ok() ? MemoryToJson(*memory) : Json(nullptr);
    if (!memory.ok()) json["memory_error"] = memory.status().message();
  }
  return json;
}

std::string InspectToText(const ModelFile& file, const Result<MemoryEstimate>& memory,
                          const InspectSections& sections) {
  std::string text = fmt::format("{}: {:.1f} MiB\n", EscapeControls(file.path()), MiB(file.FileBytes()));
  if (sections.metadata) text += MetadataText(file, sections.full_arrays);
  if (sections.tensors) text += TensorsText(file);
  if (sections.memory) text += MemoryText(memory);
  return text;
}

Json SplitLines(const std::string& text) {
  Json lines = Json::array();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace candor::cli
