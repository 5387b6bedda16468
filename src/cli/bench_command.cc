#include <algorithm>
#include <memory>

#include "base/printable.h"
#include "cli/bench.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "cli/load_model.h"
#include "cli/number.h"
#include "cli/scoring.h"

namespace candor::cli {
namespace {

constexpr int64_t kMaxTokens = std::numeric_limits<int32_t>::max() / 4;
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxRepetitions = 100000;

struct BenchFlags {
  std::string model;
  LoadOptions load;
  std::vector<int64_t> prompts = {512};
  std::vector<int64_t> generated = {128};
  std::optional<std::string> device;  // as given, to notice two
  std::vector<int64_t> depths = {0};
  bool has_depths = false;
  std::vector<int64_t> threads = {0};
  int repetitions = 5;
  bool no_warm_up = false;
  bool profile = false;
  bool json = false;
};

// A list flag; the first use replaces the default.
void AddList(CLI::App& app, const std::string& names, int64_t min, int64_t max, std::vector<int64_t>& target,
             const std::string& help) {
  auto parse = [names, min, max, &target](const std::string& text) {
    auto values = ParseIntegerList(text, min, max);
    if (!values.ok()) throw CLI::ValidationError(names, values.status().message());
    target = *values;
  };
  AddText(app, names, std::move(parse), help)->type_name("N,N,...");
}

void SetDevice(BenchFlags& flags, const std::string& text) {
  if (flags.device && *flags.device != text) {
    throw CLI::ValidationError("-d/--device", fmt::format("expected one device, got '{}' and '{}'",
                                                          Printable(*flags.device), Printable(text)));
  }
  flags.load.device = text;
  flags.device = text;
}

void SetDepths(BenchFlags& flags, const std::string& text) {
  const auto depths = ParseIntegerList(text, 0, kMaxTokens);
  if (!depths.ok()) throw CLI::ValidationError("-d/--depth", depths.status().message());
  if (flags.has_depths)
    throw CLI::ValidationError("-d/--depth", "expected depths once, got them twice; list them with commas");
  flags.depths = *depths;
  flags.has_depths = true;
}

// -d names a device everywhere; here, as in llama-bench, a number after it is a depth.
void AddDeviceOrDepth(CLI::App& app, BenchFlags& flags) {
  auto set = [&flags](const std::string& text) {
    const bool numbers = text.find_first_not_of("0123456789,.+- ") == std::string::npos;
    numbers ? SetDepths(flags, text) : SetDevice(flags, text);
  };
  AddRepeatableText(app, "-d", set,
                    "Numbers: tokens already in the cache (default: 0). A name: the device, as --device")
      ->type_name("N,N,...|DEV");
  AddText(
      app, "--device", [&flags](const std::string& text) { SetDevice(flags, text); },
      "Where to run: auto, cpu, vulkan[:N|uuid|name], cuda[:N]")
      ->type_name("DEV");
  AddText(
      app, "--depth", [&flags](const std::string& text) { SetDepths(flags, text); },
      "Tokens already in the cache, as -d with numbers")
      ->type_name("N,N,...");
  AddSoftwareAdapter(app, flags.load);
}

Json RowToJson(const BenchFlags& flags, const BenchResult& result, const PlacementReport& report) {
  return {{"test", result.test.Name()},
          {"tokens_per_second", result.tokens_per_second},
          {"stddev", result.stddev},
          {"repetitions", result.milliseconds.size()},
          {"prompt_tokens", result.test.prompt_tokens},
          {"generated_tokens", result.test.generated_tokens},
          {"depth", result.test.depth},
          {"threads", report.threads},
          {"device", report.device},
          {"device_name", report.device_name},
          {"isa", report.isa},
          {"kv_type", report.kv_type},
          {"model", flags.model},
          {"weight_bytes", report.weight_bytes},
          {"milliseconds", result.milliseconds}};
}

std::string RowToText(const BenchResult& result, const PlacementReport& report) {
  return fmt::format("{:<16} {:>8} {:>8} {:>8} {:>14.2f} +- {:.2f}\n", result.test.Name(), report.device, report.isa,
                     report.threads, result.tokens_per_second, result.stddev);
}

constexpr const char* kHeader = "test               device      isa  threads       tokens/s\n";

// The kernels of a decoded token, the costliest first.
Outcome Profile(const BenchFlags& flags, LoadedModel& loaded, Json& rows) {
  const auto times = loaded.engine->ProfileDecode();
  if (!times.ok()) return RunFailure(times.status());
  std::string text = "decode, by kernel                                            launches  us/launch   us/token\n";
  Json json = Json::array();
  for (const GpuLaunchTime& time : *times) {
    const double total = time.microseconds * static_cast<double>(time.launches);
    text += fmt::format("  {:<58} {:>8} {:>10.2f} {:>10.1f}\n", time.kernel, time.launches, time.microseconds, total);
    json.push_back({{"kernel", time.kernel}, {"launches", time.launches}, {"microseconds", time.microseconds}});
  }
  for (Json& row : rows) row["decode_profile"] = json;
  return flags.json ? Outcome{} : PrintText(text);
}

// All tests at one thread count, with a model of its own.
Outcome BenchThreads(const BenchFlags& flags, const std::vector<BenchTest>& tests, int64_t threads, Json& rows) {
  LoadOptions options = flags.load;
  options.threads = static_cast<int>(threads);
  for (const BenchTest& test : tests)
    options.context = std::max(options.context, static_cast<uint32_t>(test.context()));
  LoadedModel loaded;
  CANDOR_CLI_RETURN_IF_FAILED(LoadEngine(flags.model, options, loaded));
  const size_t first_row = rows.size();
  for (const BenchTest& test : tests) {
    const auto result = RunBenchTest(*loaded.engine, test, flags.repetitions, !flags.no_warm_up, loaded.phases);
    if (!result.ok()) return RunFailure(result.status());
    const PlacementReport report = loaded.engine->Report();
    rows.push_back(RowToJson(flags, *result, report));
    if (flags.json) continue;
    if (rows.size() == 1) CANDOR_CLI_RETURN_IF_FAILED(PrintText(kHeader));
    CANDOR_CLI_RETURN_IF_FAILED(PrintText(RowToText(*result, report)));
  }
  if (flags.profile) CANDOR_CLI_RETURN_IF_FAILED(Profile(flags, loaded, rows));
  loaded.TearDown();
  for (size_t i = first_row; i < rows.size(); ++i) rows[i]["phases"] = PhasesToJson(loaded.phases);
  return {};
}

Outcome Bench(BenchFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(flags.model));
  const auto tests = MakeTests(flags.prompts, flags.generated, flags.depths);
  if (tests.empty())
    return UsageError("expected something to measure, got -p 0 and -n 0; give a number of tokens to one of them");
  CANDOR_CLI_RETURN_IF_FAILED(ProbeDevice(flags.load));
  Json rows = Json::array();
  for (const int64_t threads : flags.threads) CANDOR_CLI_RETURN_IF_FAILED(BenchThreads(flags, tests, threads, rows));
  return flags.json ? PrintJson(rows) : Outcome{};
}

}  // namespace

CommandBody AddBenchCommand(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  AddModel(app, flags->model);
  AddList(app, "-p,--prompt-tokens", 0, kMaxTokens, flags->prompts,
          "Prompt lengths to prefill; 0: none (default: 512)");
  AddList(app, "-n,--max-tokens", 0, kMaxTokens, flags->generated,
          "Numbers of tokens to decode; 0: none (default: 128)");
  AddInteger(
      app, "-r,--repetitions", {1, kMaxRepetitions},
      [flags](int64_t value) { flags->repetitions = static_cast<int>(value); }, "Runs of each test (default: 5)");
  AddList(app, "-t,--threads", 1, kMaxThreads, flags->threads, "CPU threads (default: all cores this process may use)");
  AddDeviceOrDepth(app, *flags);
  AddFlag(app, "--profile", flags->profile, "On a GPU: what each kernel of a decoded token takes");
  AddFlag(app, "--no-warmup", flags->no_warm_up, "Leave out the uncounted run before each test");
  AddKernelFlags(app, flags->load);
  AddJson(app, flags->json);
  app.footer(
      "Lists with commas run every combination. tokens/s is the mean of the repetitions +- their standard "
      "deviation.\n\n"
      "Examples:\n"
      "  candor bench -m model.gguf\n"
      "  candor bench -m model.gguf -p 128,512 -n 0 -t 1,2 -r 3\n"
      "  candor bench -m model.gguf -n 64 -d 0,1024 --device cpu --json\n");
  return [flags] { return Bench(*flags); };
}

}  // namespace candor::cli
