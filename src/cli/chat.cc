#include "cli/chat.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

namespace candor::cli {
namespace {

constexpr const char* kHelp =
    "  /help          this list\n"
    "  /clear         forget the conversation\n"
    "  /system TEXT   set the system message and forget the conversation; without TEXT: no system message\n"
    "  /stats         timing and placement of the last reply\n"
    "  /exit          leave (Ctrl-D does too)\n"
    "A line that ends with \\ goes on in the next one. Ctrl-C ends a reply; at the prompt it leaves.\n";

// A message: one line, or several of which all but the last end with a backslash.
LineEnd ReadMessage(std::string& message) {
  message.clear();
  for (std::string line;;) {
    WriteStderr(message.empty() ? "> " : ". ");
    const LineEnd end = ReadLine(line);
    if (end != LineEnd::kLine) return end;
    if (!line.ends_with('\\')) {
      message += line;
      return LineEnd::kLine;
    }
    line.back() = '\n';
    message += line;
  }
}

void Say(const std::string& sentence) { WriteStderr(EscapeControls(sentence) + "\n"); }

}  // namespace

Chat::Chat(const RunFlags& flags, LoadedModel& loaded, const SamplerOptions& sampling)
    : flags_(flags),
      loaded_(loaded),
      sampling_(sampling),
      completes_(flags.raw || loaded.model->chat_template() == nullptr),
      system_(flags.system.value_or("")),
      sequence_(loaded.engine->NewSequence()) {}

void Chat::Greet() const {
  const PlacementReport placement = loaded_.engine->Report();
  Say(fmt::format("{} on {} ({}), {}, {} threads, context {}; /help lists the commands", flags_.model, placement.device,
                  placement.device_name, placement.isa, placement.threads, loaded_.engine->context()));
  if (!completes_) return;
  if (!flags_.raw) WriteStderr("This is a base model without a chat template, so it cannot chat. ");
  Say("Completion mode: each line you type is continued as it is.");
}

Outcome Chat::Run() {
  Greet();
  for (bool over = false; !over;) {
    std::string message;
    const LineEnd end = ReadMessage(message);
    if (end != LineEnd::kLine) WriteStderr("\n");
    if (end == LineEnd::kInterrupted) return {ExitCode::kCancelled, ""};
    if (end == LineEnd::kEndOfFile) return {};
    CANDOR_CLI_RETURN_IF_FAILED(Turn(message, over));
  }
  return {};
}

Outcome Chat::Turn(const std::string& line, bool& over) {
  if (line.starts_with('/')) {
    Command(line, over);
    return {};
  }
  if (line.empty()) return {};
  return Reply(line);
}

void Chat::Command(const std::string& line, bool& over) {
  const size_t blank = std::min(line.find(' '), line.size());
  const std::string name = line.substr(0, blank);
  const std::string argument = blank < line.size() ? line.substr(blank + 1) : "";
  if (name == "/help") return WriteStderr(kHelp);
  if (name == "/clear") return Clear();
  if (name == "/system") return SetSystem(argument);
  if (name == "/stats") return WriteStderr(last_stats_.empty() ? "no reply yet\n" : last_stats_);
  if (name == "/exit") {
    over = true;
    return;
  }
  const std::string closest = ClosestWord(name, {"/help", "/clear", "/system", "/stats", "/exit"});
  Say(fmt::format("unknown command '{}'{}; /help lists the commands; a blank before the / sends it as text",
                  Printable(name), closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

void Chat::Clear() {
  messages_.clear();
  sequence_ = loaded_.engine->NewSequence();
  Say("the conversation is forgotten");
}

void Chat::SetSystem(const std::string& text) {
  if (completes_) return Say("there is no system message in completion mode");
  system_ = text;
  Clear();
}

Result<std::vector<TokenId>> Chat::Encode(const std::string& text) {
  if (completes_) return EncodeText(*loaded_.model, text, flags_.parse_special);
  std::vector<ChatMessage> messages;
  if (!system_.empty()) messages.push_back({"system", system_});
  messages.insert(messages.end(), messages_.begin(), messages_.end());
  messages.push_back({"user", text});
  return EncodeChat(*loaded_.model, messages);
}

// Keeps what the sequence shares with the new prompt and returns the rest, at least one token. Where a sliding window
// does not let the sequence go back, it starts again.
std::vector<TokenId> Chat::ReusePrefix(const std::vector<TokenId>& ids) {
  const std::vector<TokenId>& stored = sequence_->tokens();
  const auto [stored_end, ids_end] = std::mismatch(stored.begin(), stored.end(), ids.begin(), ids.end());
  int64_t kept = std::min<int64_t>(ids_end - ids.begin(), static_cast<int64_t>(ids.size()) - 1);
  if (!sequence_->Truncate(std::max<int64_t>(kept, 0)).ok()) {
    kept = 0;
    sequence_ = loaded_.engine->NewSequence();
  }
  return {ids.begin() + std::max<int64_t>(kept, 0), ids.end()};
}

std::string Chat::ContextAdvice() const {
  return fmt::format(
      "the context of {} tokens is full; /clear starts a new conversation, a larger -c makes room for a longer one",
      loaded_.engine->context());
}

Outcome Chat::Reply(const std::string& text) {
  const auto ids = Encode(text);
  if (!ids.ok()) {
    Say(ids.status().message());
    return {};
  }
  if (static_cast<int64_t>(ids->size()) > loaded_.engine->context()) {
    Say(fmt::format("this message makes the conversation {} tokens long: {}", ids->size(), ContextAdvice()));
    return {};
  }
  Status written;
  GenerateRequest request = MakeRequest(flags_, sampling_);
  request.prompt = ReusePrefix(*ids);
  request.on_text = [&written](std::string_view piece) {
    if (written.ok()) written = WriteReply(piece);
    if (!written.ok()) RequestInterrupt();
  };
  const auto result = Generate(*loaded_.engine, *sequence_, request);
  ++sampling_.seed;  // each reply draws from a stream of its own
  if (written.ok()) written = WriteStdout("\n");
  if (!written.ok()) return StreamFailure(written);
  ClearInterrupt();
  return Finish(text, result);
}

Outcome Chat::Finish(const std::string& text, const Result<GenerateResult>& result) {
  if (!result.ok()) return RunFailure(result.status());
  if (result->stop_reason == StopReason::kCancelled) Say("[cancelled]");
  if (result->stop_reason == StopReason::kContext) Say("[context] " + ContextAdvice());
  if (!completes_) {
    messages_.push_back({"user", text});
    messages_.push_back({"assistant", result->text});
  }
  ReplyReport report{.model = flags_.model,
                     .result = *result,
                     .sampling = sampling_,
                     .placement = loaded_.engine->Report(),
                     .phases = loaded_.phases,
                     .context = loaded_.engine->context(),
                     .device_reason = loaded_.model->device().reason};
  report.sampling.seed -= 1;
  AddReplyPhases(*result, report.phases);
  last_stats_ = ReplyStats(report);
  if (flags_.stats) WriteStderr(last_stats_);
  return {};
}

}  // namespace candor::cli
