#include "runtime/generate.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/stop_finder.h"
#include "text/detokenizer.h"

namespace candor {
namespace {

// The state of one call: prompt in, then token after token out.
class Generation {
 public:
  Generation(Engine& engine, Sequence& sequence, const GenerateRequest& request)
      : engine_(engine),
        sequence_(sequence),
        request_(request),
        start_length_(sequence.length()),
        detokenizer_(engine.model().tokenizer()),
        stops_(request.stop) {}

  Status Run();
  void Undo();
  bool prefilled() const { return prefilled_; }
  GenerateResult TakeResult() { return std::move(result_); }

 private:
  Status Check() const;
  Status MakeSampler();
  Status Prefill(std::span<const float>& logits);
  Status Decode(std::span<const float> logits);
  Result<std::span<const float>> Step(std::span<const TokenId> tokens, SequenceRows::Logits logits);
  Status End(StopReason reason) {
    result_.stop_reason = reason;
    return OkStatus();
  }
  bool Cancelled() const { return request_.cancel != nullptr && request_.cancel->load(std::memory_order_relaxed); }
  bool Full() const {
    return request_.max_tokens >= 0 && static_cast<int64_t>(result_.tokens.size()) >= request_.max_tokens;
  }
  void Emit(std::string text);
  void EmitRest();

  Engine& engine_;
  Sequence& sequence_;
  const GenerateRequest& request_;
  const int64_t start_length_;
  Detokenizer detokenizer_;
  StopFinder stops_;
  std::vector<TokenId> prompt_;
  std::unique_ptr<Sampler> sampler_;
  Stopwatch watch_;
  bool prefilled_ = false;
  GenerateResult result_;
};

Status Generation::Check() const {
  if (request_.max_tokens < -1)
    return InvalidArgumentError("max_tokens: expected -1 or more, got {}", request_.max_tokens);
  if (std::any_of(request_.stop.begin(), request_.stop.end(), [](const std::string& stop) { return stop.empty(); })) {
    return InvalidArgumentError("stop: expected a string of at least one character, got an empty one");
  }
  if (request_.prompt.empty() && start_length_ == 0) {
    return InvalidArgumentError("prompt: expected at least one token, got none; give some text");
  }
  const int64_t needed = start_length_ + static_cast<int64_t>(request_.prompt.size());
  if (needed > engine_.context()) {
    return FailedPreconditionError(
        "prompt: expected at most the {} tokens of the context, got {}; shorten it or raise the context",
        engine_.context(), needed);
  }
  const int32_t vocabulary = static_cast<int32_t>(engine_.model().config().vocabulary);
  for (const TokenId id : request_.prompt) {
    if (id < 0 || id >= vocabulary) {
      return InvalidArgumentError("prompt: expected token ids from 0 to {}, got {}", vocabulary - 1, id);
    }
  }
  return OkStatus();
}

Status Generation::MakeSampler() {
  CANDOR_ASSIGN_OR_RETURN(
      sampler_, Sampler::Create(request_.sampling, static_cast<int32_t>(engine_.model().config().vocabulary)));
  for (const TokenId id : sequence_.tokens()) sampler_->Accept(id);
  for (const TokenId id : request_.prompt) sampler_->Accept(id);
  return OkStatus();
}

Result<std::span<const float>> Generation::Step(std::span<const TokenId> tokens, SequenceRows::Logits logits) {
  const SequenceRows rows{.sequence = &sequence_, .tokens = tokens, .logits = logits};
  return engine_.Step({&rows, 1});
}

// Runs the prompt in chunks; `logits` becomes the row of its last token. Without a prompt the sequence's last token is
// run again.
Status Generation::Prefill(std::span<const float>& logits) {
  prompt_ = request_.prompt;
  if (prompt_.empty()) {
    prompt_.push_back(sequence_.tokens().back());
    CANDOR_RETURN_IF_ERROR(sequence_.Truncate(start_length_ - 1));
  }
  const std::span<const TokenId> prompt(prompt_);
  const size_t chunk = static_cast<size_t>(engine_.max_rows());
  for (size_t done = 0; done < prompt.size();) {
    if (Cancelled()) return End(StopReason::kCancelled);
    const size_t count = std::min(chunk, prompt.size() - done);
    const bool last = done + count == prompt.size() && request_.max_tokens != 0;
    CANDOR_ASSIGN_OR_RETURN(
        logits, Step(prompt.subspan(done, count), last ? SequenceRows::Logits::kLast : SequenceRows::Logits::kNone));
    done += count;
  }
  result_.prompt_tokens = static_cast<int64_t>(request_.prompt.size());
  result_.prefill_ms = watch_.Milliseconds();
  prefilled_ = true;
  return OkStatus();
}

// Going back can be refused by layers with a sliding window; a sequence can always be emptied.
void Generation::Undo() {
  if (sequence_.Truncate(std::min(start_length_, sequence_.length())).ok()) return;
  const Status emptied = sequence_.Truncate(0);
  CANDOR_CHECK(emptied.ok(), "generate: empty a sequence");
}

void Generation::Emit(std::string text) {
  if (text.empty()) return;
  result_.text += text;
  if (request_.on_text) request_.on_text(text);
}

void Generation::EmitRest() {
  Emit(stops_.Push(detokenizer_.Flush()));
  if (!stops_.found()) Emit(stops_.Flush());
}

Status Generation::Decode(std::span<const float> logits) {
  const Tokenizer& tokenizer = engine_.model().tokenizer();
  for (;;) {
    if (Full()) return End(StopReason::kLength);
    if (Cancelled()) return End(StopReason::kCancelled);
    CANDOR_ASSIGN_OR_RETURN(const SampledToken token, sampler_->Sample(logits));
    if (result_.tokens.empty()) result_.first_token_ms = watch_.Milliseconds();
    const bool end = tokenizer.IsEndOfGeneration(token.id);
    if (end && !request_.ignore_eos) return End(StopReason::kEos);

    result_.tokens.push_back(token.id);
    sampler_->Accept(token.id);
    Emit(stops_.Push(detokenizer_.Push(token.id)));
    if (stops_.found()) return End(StopReason::kStop);
    if (Full()) return End(StopReason::kLength);
    if (sequence_.length() >= engine_.context()) return End(StopReason::kContext);
    CANDOR_ASSIGN_OR_RETURN(logits, Step({&token.id, 1}, SequenceRows::Logits::kLast));
  }
}

Status Generation::Run() {
  CANDOR_RETURN_IF_ERROR(Check());
  CANDOR_RETURN_IF_ERROR(MakeSampler());
  std::span<const float> logits;
  CANDOR_RETURN_IF_ERROR(Prefill(logits));
  if (!prefilled_) return OkStatus();  // cancelled
  if (request_.max_tokens == 0) return End(StopReason::kLength);
  CANDOR_RETURN_IF_ERROR(Decode(logits));
  if (!stops_.found()) EmitRest();
  result_.stop_string = stops_.stop();
  result_.decode_ms = watch_.Milliseconds() - result_.first_token_ms;
  return OkStatus();
}

}  // namespace

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kEos:
      return "eos";
    case StopReason::kStop:
      return "stop";
    case StopReason::kLength:
      return "length";
    case StopReason::kContext:
      return "context";
    case StopReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Result<GenerateResult> Generate(Engine& engine, Sequence& sequence, const GenerateRequest& request) {
  Generation generation(engine, sequence, request);
  const Status status = generation.Run();
  GenerateResult result = generation.TakeResult();
  if (!status.ok() || !generation.prefilled()) generation.Undo();
  if (!status.ok()) return status;
  return result;
}

}  // namespace candor
