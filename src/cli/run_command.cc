#include <memory>

#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/load_model.h"
#include "cli/prompt.h"
#include "cli/reply_report.h"
#include "cli/run_flags.h"
#include "cli/terminal.h"
#include "cli/token_ids.h"

namespace candor::cli {
namespace {

// Where the prompt comes from: ids, or text of a flag, a file or stdin; neither: a chat.
struct PromptSource {
  std::vector<TokenId> ids;
  std::string text;
  bool interactive = false;
};

Outcome CheckFlags(const RunFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(flags.model));
  const int sources = (flags.prompt ? 1 : 0) + (flags.file.empty() ? 0 : 1) + (flags.ids ? 1 : 0);
  if (sources > 1) return UsageError("expected one of -p/--prompt, --file and --ids, got {}; give one", sources);
  if (flags.ids && flags.system)
    return UsageError("--system: expected a text prompt beside it, got --ids; nothing is added to ids");
  if (flags.raw && flags.system)
    return UsageError("--system: expected a chat, got --raw; put the text into the prompt");
  for (const std::string& stop : flags.stop) {
    if (stop.empty()) return UsageError("--stop: expected at least one character, got none");
  }
  if (flags.report.empty()) return {};
  if (flags.report == "-") return UsageError("--report: expected a file, got -; stdout holds the reply");
  return StreamFailure(CheckWritable(flags.report));
}

Outcome ReadText(const RunFlags& flags, std::string& text) {
  if (flags.prompt) {
    text = *flags.prompt;
  } else {
    auto content = flags.file.empty() ? ReadStdin() : ReadWholeFile(flags.file);
    if (!content.ok()) return StreamFailure(content.status());
    text = std::move(*content);
  }
  if (text.empty()) return UsageError("expected a prompt, got an empty one; give some text with -p, --file or stdin");
  return {};
}

Outcome ReadPrompt(const RunFlags& flags, PromptSource& source) {
  if (flags.ids) return ParseTokenIds(*flags.ids, source.ids);
  source.interactive = !flags.prompt && flags.file.empty() && StdinIsTerminal();
  if (!source.interactive) return ReadText(flags, source.text);
  if (flags.json)
    return UsageError(
        "--json: expected a prompt, got none; give one with -p, --file, --ids or stdin (a chat has no JSON)");
  return {};
}

// One user turn through the chat template, or the plain text. A pipe's or file's last newline is no part of a turn.
Outcome EncodePrompt(const RunFlags& flags, const Model& model, PromptSource& source) {
  if (flags.ids) return CheckTokenIds(source.ids, model.config().vocabulary);
  const bool chats = !flags.raw && model.chat_template() != nullptr;
  if (!chats && flags.system)
    return UsageError("--system: expected a model with a chat template, got a base model without one");
  if (!chats && !flags.raw) {
    WriteStderr("candor run: this is a base model without a chat template; it continues the prompt as plain text\n");
  }
  std::vector<ChatMessage> messages;
  if (flags.system) messages.push_back({"system", *flags.system});
  const bool drop_newline = !flags.prompt && source.text.ends_with('\n');
  messages.push_back({"user", source.text.substr(0, source.text.size() - (drop_newline ? 1 : 0))});
  auto ids = chats ? EncodeChat(model, messages) : EncodeText(model, source.text, flags.parse_special);
  if (!ids.ok()) return RunFailure(ids.status());
  source.ids = std::move(*ids);
  return {};
}

Outcome WriteReport(const RunFlags& flags, const PlacementReport& placement) {
  if (flags.report.empty()) return {};
  return StreamFailure(WriteWholeFile(flags.report, placement.ToJson() + "\n"));
}

// Runs the prompt; streams the text to stdout unless JSON is asked for.
Outcome Answer(const RunFlags& flags, LoadedModel& loaded, PromptSource source, ReplyReport& report) {
  Status written;
  GenerateRequest request = MakeRequest(flags, report.sampling);
  request.prompt = std::move(source.ids);
  if (!flags.json) {
    request.on_text = [&written](std::string_view piece) {
      if (written.ok()) written = WriteReply(piece);
      if (!written.ok()) RequestInterrupt();
    };
  }
  const auto sequence = loaded.engine->NewSequence();
  auto result = Generate(*loaded.engine, *sequence, request);
  if (!written.ok()) return StreamFailure(written);
  if (!result.ok()) return RunFailure(result.status());
  AddReplyPhases(*result, loaded.phases);
  report.result = std::move(*result);
  report.placement = loaded.engine->Report();
  report.context = loaded.engine->context();
  report.device_reason = loaded.model->device().reason;
  return {};
}

Outcome PrintReply(const RunFlags& flags, const ReplyReport& report) {
  const GenerateResult& result = report.result;
  if (flags.json) {
    CANDOR_CLI_RETURN_IF_FAILED(PrintJson(ReplyToJson(report)));
  } else if (!result.text.empty() && !result.text.ends_with('\n')) {
    CANDOR_CLI_RETURN_IF_FAILED(PrintText("\n"));
  }
  if (flags.stats) WriteStderr(ReplyStats(report));
  if (result.stop_reason == StopReason::kContext) {
    WriteStderr(fmt::format("candor run: the context of {} tokens is full; a larger -c makes room\n", report.context));
  }
  if (result.stop_reason == StopReason::kCancelled) return {ExitCode::kCancelled, "cancelled"};
  return {};
}

Outcome OneShot(const RunFlags& flags, LoadedModel& loaded, const SamplerOptions& sampling, PromptSource source) {
  CANDOR_CLI_RETURN_IF_FAILED(EncodePrompt(flags, *loaded.model, source));
  ReplyReport report;
  report.model = flags.model;
  report.sampling = sampling;
  CANDOR_CLI_RETURN_IF_FAILED(Answer(flags, loaded, std::move(source), report));
  CANDOR_CLI_RETURN_IF_FAILED(WriteReport(flags, report.placement));
  loaded.TearDown();
  report.phases = loaded.phases;
  return PrintReply(flags, report);
}

Outcome Interactive(const RunFlags& flags, LoadedModel& loaded, const SamplerOptions& sampling) {
  const Outcome outcome = Chat(flags, loaded, sampling).Run();
  const Outcome reported = WriteReport(flags, loaded.engine->Report());
  return outcome.ok() ? reported : outcome;
}

Outcome Run(RunFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(CheckFlags(flags));
  CANDOR_CLI_RETURN_IF_FAILED(ProbeDevice(flags.load));
  PromptSource source;
  CANDOR_CLI_RETURN_IF_FAILED(ReadPrompt(flags, source));
  LoadedModel loaded;
  CANDOR_CLI_RETURN_IF_FAILED(LoadEngine(flags.model, flags.load, loaded));
  const auto sampling = ResolveSampling(flags.sampling, loaded.model->file());
  if (!sampling.ok()) return LoadFailure(sampling.status());
  if (const Status valid = sampling->Validate(static_cast<int32_t>(loaded.model->config().vocabulary)); !valid.ok()) {
    return RunFailure(valid);
  }
  return source.interactive ? Interactive(flags, loaded, *sampling)
                            : OneShot(flags, loaded, *sampling, std::move(source));
}

void AddPromptFlags(CLI::App& app, RunFlags& flags) {
  AddText(
      app, "-p,--prompt", [&flags](const std::string& text) { flags.prompt = text; },
      "The prompt: one user turn, plain text with --raw")
      ->type_name("TEXT");
  AddPath(app, "--file", flags.file, "A file that holds the prompt; - is stdin");
  AddText(
      app, "--ids", [&flags](const std::string& text) { flags.ids = text; },
      "The prompt as token ids; nothing is added")
      ->type_name("1,2,3");
  AddText(
      app, "--system", [&flags](const std::string& text) { flags.system = text; }, "System message of the chat")
      ->type_name("TEXT");
  AddFlag(app, "--raw", flags.raw, "Continue the text as it is, without the chat template");
  AddFlag(app, "--parse-special", flags.parse_special,
          "With plain text: what looks like a control token becomes that token");
}

void AddReplyFlags(CLI::App& app, RunFlags& flags) {
  AddInteger(
      app, "-n,--max-tokens", {-1, kNoLimit}, [&flags](int64_t value) { flags.max_tokens = value; },
      "Most tokens in the reply; 0: read the prompt only; -1: no limit (default: -1)");
  AddRepeatableText(
      app, "--stop", [&flags](const std::string& text) { flags.stop.push_back(text); },
      "End the reply before this text (repeatable)")
      ->type_name("TEXT");
  AddFlag(app, "--ignore-eos", flags.ignore_eos, "Go on after an end-of-generation token");
  AddFlag(app, "--stats", flags.stats, "Timing and placement on stderr");
  AddPath(app, "--report", flags.report, "Write the placement report there, as JSON");
}

}  // namespace

GenerateRequest MakeRequest(const RunFlags& flags, const SamplerOptions& sampling) {
  GenerateRequest request;
  request.max_tokens = flags.max_tokens;
  request.ignore_eos = flags.ignore_eos;
  request.sampling = sampling;
  request.stop = flags.stop;
  request.cancel = &Interrupted();
  return request;
}

CommandBody AddRunCommand(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  AddModel(app, flags->model);
  AddPromptFlags(app, *flags);
  AddReplyFlags(app, *flags);
  AddSamplingFlags(app, flags->sampling);
  AddLoadFlags(app, flags->load);
  AddJson(app, flags->json);
  app.footer(
      "Without a prompt: a chat in a terminal; otherwise the prompt is read from stdin.\n"
      "Sampling defaults come from the model file (general.sampling.*) where it has them.\n\n"
      "Examples:\n"
      "  candor run -m model.gguf\n"
      "  candor run -m model.gguf -p \"Why is the sky blue?\" -n 200 --stats\n"
      "  candor run -m model.gguf --raw -p \"Once upon a time\" --temp 0 --stop \". \"\n"
      "  candor run -m model.gguf --ids 1,2,3 -n 16 --temp 0 --json\n"
      "  cat question.txt | candor run -m model.gguf --report placement.json\n");
  return [flags] { return Run(*flags); };
}

}  // namespace candor::cli
