// Runs known tokens through an engine for their logits: used by `logits`, `perplexity` and `bench`.
#pragma once

#include <functional>
#include <span>

#include "cli/exit_code.h"
#include "cli/json.h"
#include "runtime/engine.h"

namespace candor::cli {

// Appends the tokens without asking for logits. Cancelled when Ctrl-C came between two steps.
Status Prefill(Engine& engine, Sequence& sequence, std::span<const TokenId> tokens);

// Appends the tokens; the logits after the last one, [vocabulary], valid until the next step.
Result<std::span<const float>> PrefillForLastLogits(Engine& engine, Sequence& sequence,
                                                    std::span<const TokenId> tokens);

// Appends the tokens in small steps and hands each block of logits to `visit(first, rows)`: `rows` is [n, vocabulary],
// `first` the index in `tokens` of its first row.
using LogitsVisitor = std::function<Status(size_t first, std::span<const float> rows)>;
Status ForEachLogitsBlock(Engine& engine, Sequence& sequence, std::span<const TokenId> tokens,
                          const LogitsVisitor& visit);

// {"open": 1.25, …}, milliseconds rounded to microseconds.
Json PhasesToJson(const PhaseTimer& phases);

}  // namespace candor::cli
