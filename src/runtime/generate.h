// Generate: one prompt to one reply on an Engine: chunked prefill, decode loop, sampling, stop conditions.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.h"

namespace candor {

enum class StopReason { kEos, kStop, kLength, kContext, kCancelled };
std::string_view StopReasonName(StopReason reason);  // eos | stop | length | context | cancelled

struct GenerateRequest {
  std::vector<TokenId> prompt;                // appended to the sequence
  int64_t max_tokens = -1;                    // -1: until a stop; 0: prefill only. Exact.
  bool ignore_eos = false;                    // end-of-generation tokens are tokens like any other
  SamplerOptions sampling;                    // the penalties see the sequence, the prompt and the reply
  std::vector<std::string> stop;              // found across token borders; not part of the text
  const std::atomic<bool>* cancel = nullptr;  // looked at between steps
  std::function<void(std::string_view text)>
      on_text;  // complete UTF-8 only; text that may become a stop string is held back
};

struct GenerateResult {
  std::vector<TokenId> tokens;  // generated ids, the end-of-generation token not included
  std::string text;
  StopReason stop_reason = StopReason::kEos;
  std::string stop_string;  // the one that was found
  int64_t prompt_tokens = 0;
  double prefill_ms = 0;
  double first_token_ms = 0;  // start of Generate to the first token; 0 when there is none
  double decode_ms = 0;       // after the first token
};

// Appends the prompt and the reply to the sequence. The last token of a reply that ended by length, stop string or full
// context is generated but not yet part of the sequence (its step would be wasted). An empty prompt continues a
// sequence that has tokens. A cancelled prefill leaves the sequence as an error does; a cancelled decode keeps what
// there is of the reply. InvalidArgument: empty prompt on an empty sequence, invalid sampling options, an empty stop
// string, max_tokens below -1, a token id out of range. FailedPrecondition: the prompt does not fit the context (both
// numbers in the message). DataLoss: dead logits. Internal: a bug of the engine. On an error the sequence is what it
// was before; where its sliding-window layers forbid going back it is empty.
Result<GenerateResult> Generate(Engine& engine, Sequence& sequence, const GenerateRequest& request);

}  // namespace candor
