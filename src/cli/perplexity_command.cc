#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "cli/load_model.h"
#include "cli/perplexity.h"
#include "cli/prompt.h"
#include "cli/scoring.h"
#include "cli/terminal.h"

namespace candor::cli {
namespace {

struct PerplexityFlags {
  std::string model;
  LoadOptions load;
  std::string file;
  bool json = false;
};

Outcome Measure(const PerplexityFlags& flags, LoadedModel& loaded, const std::string& text, Perplexity& result) {
  const auto ids = loaded.model->tokenizer().Encode(text, {});
  if (!ids.ok()) return RunFailure(ids.status());
  const size_t chunks = ids->size() / flags.load.context;
  const ScopedPhase phase(&loaded.phases, "prefill");
  ProgressLine progress("perplexity");
  const auto measured = MeasurePerplexity(*loaded.engine, *ids, flags.load.context, AddsBos(loaded.model->tokenizer()),
                                          [&](const Perplexity& so_far) { progress.Update(so_far.chunks, chunks); });
  if (!measured.ok()) return RunFailure(measured.status());
  result = *measured;
  return {};
}

Outcome Print(const PerplexityFlags& flags, const LoadedModel& loaded, const std::string& device,
              const Perplexity& result) {
  if (!flags.json) {
    return PrintText(fmt::format("perplexity {:.4f} +- {:.4f} ({} chunks of {} tokens, {} scored)\n", result.value,
                                 result.error, result.chunks, flags.load.context, result.scored_tokens));
  }
  return PrintJson({{"perplexity", result.value},
                    {"error", result.error},
                    {"chunks", result.chunks},
                    {"context", flags.load.context},
                    {"scored_tokens", result.scored_tokens},
                    {"device", device},
                    {"phases", PhasesToJson(loaded.phases)}});
}

Outcome Run(const PerplexityFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(flags.model));
  if (flags.file.empty() && StdinIsTerminal()) return UsageError("expected a text, got none; give one with --file");
  if (flags.load.context < 4)
    return UsageError("-c/--context: expected at least 4 tokens in a chunk, got {}", flags.load.context);
  const auto text = flags.file.empty() ? ReadStdin() : ReadWholeFile(flags.file);
  if (!text.ok()) return StreamFailure(text.status());
  LoadedModel loaded;
  CANDOR_CLI_RETURN_IF_FAILED(LoadEngine(flags.model, flags.load, loaded));
  Perplexity result;
  CANDOR_CLI_RETURN_IF_FAILED(Measure(flags, loaded, *text, result));
  const std::string device = loaded.engine->Report().device;
  loaded.TearDown();
  return Print(flags, loaded, device, result);
}

}  // namespace

CommandBody AddPerplexityCommand(CLI::App& app) {
  auto flags = std::make_shared<PerplexityFlags>();
  flags->load.context = 512;
  AddModel(app, flags->model);
  AddPath(app, "--file", flags->file, "The text; - is stdin");
  AddInteger(
      app, "-c,--context", {1, std::numeric_limits<int32_t>::max()},
      [flags](int64_t value) { flags->load.context = static_cast<uint32_t>(value); },
      "Tokens in a chunk; the second half of each is scored (default: 512)");
  AddDevice(app, flags->load);
  AddThreads(app, flags->load);
  AddKernelFlags(app, flags->load);
  AddJson(app, flags->json);
  app.footer(
      "The text is cut into chunks as llama-perplexity cuts it, so the numbers compare.\n\n"
      "Examples:\n"
      "  candor perplexity -m model.gguf --file book.txt\n"
      "  candor perplexity -m model.gguf --file book.txt -c 1024 --json\n");
  return [flags] { return Run(*flags); };
}

}  // namespace candor::cli
