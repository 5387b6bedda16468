#include "cli/flags.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/number.h"

namespace candor::cli {
namespace {

constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxContext = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxPrefillChunk = 8192;

// "-n/--max-tokens" of "-n,--max-tokens".
std::string Title(std::string names) {
  std::replace(names.begin(), names.end(), ',', '/');
  return names;
}

template <typename T>
T ValueOrThrow(const std::string& names, Result<T> value) {
  if (!value.ok()) throw CLI::ValidationError(Title(names), value.status().message());
  return *value;
}

CpuIsa ParseIsaOrThrow(const std::string& text) {
  const std::optional<CpuIsa> isa = ParseCpuIsa(text);
  if (!isa)
    throw CLI::ValidationError("--cpu-isa", fmt::format("expected scalar, avx2 or avx512, got '{}'", Printable(text)));
  return *isa;
}

GpuPrecision ParsePrecisionOrThrow(const std::string& text) {
  for (const GpuPrecision precision : {GpuPrecision::kAuto, GpuPrecision::kF32}) {
    if (text == GpuPrecisionName(precision)) return precision;
  }
  throw CLI::ValidationError("--precision", fmt::format("expected auto or f32, got '{}'", Printable(text)));
}

KvType ParseKvTypeOrThrow(const std::string& text) {
  if (text == "auto") return KvType::kAuto;
  if (text == "f32") return KvType::kF32;
  if (text == "f16") return KvType::kF16;
  throw CLI::ValidationError("--kv-type", fmt::format("expected auto, f16 or f32, got '{}'", Printable(text)));
}

}  // namespace

CLI::Option* AddText(CLI::App& app, const std::string& names, std::function<void(const std::string&)> set,
                     const std::string& help) {
  auto set_once = [names, set = std::move(set)](const std::vector<std::string>& values) {
    if (values.size() > 1)
      throw CLI::ValidationError(Title(names), fmt::format("expected once, got {} times; give it once", values.size()));
    set(values.front());
  };
  return app.add_option_function<std::vector<std::string>>(names, std::move(set_once), help)->allow_extra_args(false);
}

CLI::Option* AddInteger(CLI::App& app, const std::string& names, IntegerRange range, std::function<void(int64_t)> set,
                        const std::string& help) {
  auto parse = [names, range, set = std::move(set)](const std::string& text) {
    set(ValueOrThrow(names, ParseInteger(text, range.min, range.max)));
  };
  return AddText(app, names, std::move(parse), help)->type_name("N");
}

CLI::Option* AddNumber(CLI::App& app, const std::string& names, double min, double max, std::function<void(double)> set,
                       const std::string& help) {
  auto parse = [names, min, max, set = std::move(set)](const std::string& text) {
    set(ValueOrThrow(names, ParseNumber(text, min, max)));
  };
  return AddText(app, names, std::move(parse), help)->type_name("X");
}

CLI::Option* AddRepeatableText(CLI::App& app, const std::string& names, std::function<void(const std::string&)> add,
                               const std::string& help) {
  auto add_all = [add = std::move(add)](const std::vector<std::string>& values) {
    for (const std::string& value : values) add(value);
  };
  return app.add_option_function<std::vector<std::string>>(names, std::move(add_all), help)->allow_extra_args(false);
}

void AddFlag(CLI::App& app, const std::string& name, bool& target, const std::string& help) {
  app.add_flag(name, target, help)->disable_flag_override();
}

CLI::Option* AddPath(CLI::App& app, const std::string& names, std::string& path, const std::string& help) {
  auto set = [names, &path](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError(Title(names), "expected a path, got an empty one");
    path = text;
  };
  return AddText(app, names, std::move(set), help)->type_name("FILE");
}

void AddModel(CLI::App& app, std::string& path) {
  AddText(
      app, "-m,--model", [&path](const std::string& text) { path = text; },
      "Model file (GGUF; the first part of a split file)")
      ->type_name("FILE");
}

void AddJson(CLI::App& app, bool& json) { AddFlag(app, "--json", json, "Print JSON on stdout and nothing else there"); }

void AddSoftwareAdapter(CLI::App& app, LoadOptions& options) {
  AddFlag(app, "--allow-software-adapter", options.allow_software_adapter, "Accept a GPU API that runs on the CPU");
}

void AddDevice(CLI::App& app, LoadOptions& options) {
  AddText(
      app, "-d,--device", [&options](const std::string& text) { options.device = text; },
      "Where to run: auto, cpu, vulkan[:N|uuid|name], cuda[:N]; the device asked for is used, or it is an error")
      ->type_name("DEV");
  AddSoftwareAdapter(app, options);
}

void AddThreads(CLI::App& app, LoadOptions& options) {
  AddInteger(
      app, "-t,--threads", {1, kMaxThreads}, [&options](int64_t value) { options.threads = static_cast<int>(value); },
      "CPU threads (default: all cores this process may use)");
}

void AddContext(CLI::App& app, LoadOptions& options) {
  AddInteger(
      app, "-c,--context", {1, kMaxContext},
      [&options](int64_t value) { options.context = static_cast<uint32_t>(value); },
      "Context in tokens (default: what the model was trained for, at most 4096)");
}

void AddKernelFlags(CLI::App& app, LoadOptions& options) {
  AddText(
      app, "--precision", [&options](const std::string& text) { options.gpu_precision = ParsePrecisionOrThrow(text); },
      "On a GPU: auto (activations meet quantised weights as int8), f32 (activations are never rounded)")
      ->type_name("P");
  AddText(
      app, "--cpu-isa", [&options](const std::string& text) { options.cpu_isa = ParseIsaOrThrow(text); },
      "CPU kernels: scalar, avx2, avx512 (default: the best that runs here)")
      ->type_name("ISA");
  AddText(
      app, "--kv-type", [&options](const std::string& text) { options.kv_type = ParseKvTypeOrThrow(text); },
      "Type of cached keys and values: auto, f16, f32 (auto: f32 for a file with F32 matrices, else f16)")
      ->type_name("TYPE");
  AddInteger(
      app, "--prefill-chunk", {1, kMaxPrefillChunk},
      [&options](int64_t value) { options.prefill_chunk = static_cast<uint32_t>(value); },
      "Most prompt tokens in one step (default: 512)");
}

void AddLoadFlags(CLI::App& app, LoadOptions& options) {
  AddDevice(app, options);
  AddContext(app, options);
  AddThreads(app, options);
  AddKernelFlags(app, options);
}

}  // namespace candor::cli
