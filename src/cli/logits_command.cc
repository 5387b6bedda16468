#include <memory>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "cli/load_model.h"
#include "cli/scoring.h"
#include "cli/terminal.h"
#include "cli/token_ids.h"

namespace candor::cli {
namespace {

struct LogitsFlags {
  std::string model;
  LoadOptions load;
  std::string ids;
  std::string output;
  bool all = false;
  bool json = false;
};

Status WriteRows(OutputFile& file, std::span<const float> rows) { return file.Write(std::as_bytes(rows)); }

// The last row alone; the prompt runs in the largest steps there are.
Status WriteLastRow(Engine& engine, const std::vector<TokenId>& ids, OutputFile& file) {
  const auto sequence = engine.NewSequence();
  CANDOR_ASSIGN_OR_RETURN(const std::span<const float> row, PrefillForLastLogits(engine, *sequence, ids));
  return WriteRows(file, row);
}

Status WriteAllRows(Engine& engine, const std::vector<TokenId>& ids, OutputFile& file) {
  const auto sequence = engine.NewSequence();
  return ForEachLogitsBlock(engine, *sequence, ids,
                            [&](size_t, std::span<const float> rows) { return WriteRows(file, rows); });
}

Outcome WriteLogits(const LogitsFlags& flags, Engine& engine, const std::vector<TokenId>& ids) {
  auto file = OutputFile::Create(flags.output);
  if (!file.ok()) return StreamFailure(file.status());
  const Status status = flags.all ? WriteAllRows(engine, ids, **file) : WriteLastRow(engine, ids, **file);
  if (!status.ok()) return RunFailure(status);
  return StreamFailure((*file)->Commit());
}

Outcome Logits(const LogitsFlags& flags) {
  if (flags.ids.empty()) return UsageError("--ids: expected token ids, got none; give them with --ids 1,2,3");
  if (flags.output.empty())
    return UsageError("-o/--output: expected a file for the logits, got none; give one with -o FILE");
  std::vector<TokenId> ids;
  CANDOR_CLI_RETURN_IF_FAILED(ParseTokenIds(flags.ids, ids));
  if (flags.output == "-" && flags.json)
    return UsageError("--json: expected a file after -o, got -; stdout can't hold the logits and JSON");
  CANDOR_CLI_RETURN_IF_FAILED(StreamFailure(CheckWritable(flags.output)));
  LoadedModel loaded;
  CANDOR_CLI_RETURN_IF_FAILED(LoadEngine(flags.model, flags.load, loaded));
  const uint32_t vocabulary = loaded.model->config().vocabulary;
  CANDOR_CLI_RETURN_IF_FAILED(CheckTokenIds(ids, vocabulary));
  CANDOR_CLI_RETURN_IF_FAILED(CheckPromptFits(ids.size(), loaded.engine->context()));
  {
    const ScopedPhase phase(&loaded.phases, "prefill");
    CANDOR_CLI_RETURN_IF_FAILED(WriteLogits(flags, *loaded.engine, ids));
  }
  const std::string device = loaded.engine->Report().device;
  loaded.TearDown();
  const size_t rows = flags.all ? ids.size() : 1;
  if (flags.json) {
    return PrintJson({{"output", flags.output},
                      {"rows", rows},
                      {"vocabulary", vocabulary},
                      {"dtype", "f32"},
                      {"device", device},
                      {"phases", PhasesToJson(loaded.phases)}});
  }
  const std::string summary = fmt::format(
      "{}: {} x {} float32\n", flags.output == "-" ? "stdout" : EscapeControls(flags.output), rows, vocabulary);
  if (flags.output != "-") return PrintText(summary);
  WriteStderr(summary);
  return {};
}

}  // namespace

CommandBody AddLogitsCommand(CLI::App& app) {
  auto flags = std::make_shared<LogitsFlags>();
  AddModel(app, flags->model);
  AddText(
      app, "--ids", [flags](const std::string& text) { flags->ids = text; },
      "Token ids of the prompt; nothing is added")
      ->type_name("1,2,3");
  AddText(
      app, "-o,--output", [flags](const std::string& path) { flags->output = path; },
      "Where the logits go: little-endian float32; - is stdout")
      ->type_name("FILE");
  AddFlag(app, "--all", flags->all, "Logits after every position (rows x vocabulary), not after the last alone");
  AddLoadFlags(app, flags->load);
  AddJson(app, flags->json);
  app.footer(
      "Examples:\n"
      "  candor logits -m model.gguf --ids 1,2,3 -o out.f32\n"
      "  candor logits -m model.gguf --ids 1,2,3 --all --cpu-isa scalar -o out.f32 --json\n"
      "  candor logits -m model.gguf --ids 1,2,3 -o - | sha256sum\n");
  return [flags] { return Logits(*flags); };
}

}  // namespace candor::cli
