#include "cli/scoring.h"

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"

namespace candor::cli {
namespace {

// Rows whose logits are kept at once: 64 MiB at a vocabulary of 262 144.
constexpr size_t kLogitsRows = 64;

using Logits = SequenceRows::Logits;

Result<std::span<const float>> Step(Engine& engine, Sequence& sequence, std::span<const TokenId> tokens,
                                    Logits logits) {
  if (Interrupted()) return CancelledError("cancelled");
  const SequenceRows rows{.sequence = &sequence, .tokens = tokens, .logits = logits};
  return engine.Step({&rows, 1});
}

}  // namespace

Status Prefill(Engine& engine, Sequence& sequence, std::span<const TokenId> tokens) {
  while (!tokens.empty()) {
    const size_t count = std::min(tokens.size(), static_cast<size_t>(engine.max_rows()));
    CANDOR_RETURN_IF_ERROR(Step(engine, sequence, tokens.first(count), Logits::kNone).status());
    tokens = tokens.subspan(count);
  }
  return OkStatus();
}

Result<std::span<const float>> PrefillForLastLogits(Engine& engine, Sequence& sequence,
                                                    std::span<const TokenId> tokens) {
  const size_t chunk = static_cast<size_t>(engine.max_rows());
  const size_t last = (tokens.size() - 1) % chunk + 1;
  CANDOR_RETURN_IF_ERROR(Prefill(engine, sequence, tokens.first(tokens.size() - last)));
  return Step(engine, sequence, tokens.last(last), Logits::kLast);
}

Status ForEachLogitsBlock(Engine& engine, Sequence& sequence, std::span<const TokenId> tokens,
                          const LogitsVisitor& visit) {
  const size_t chunk = std::min(kLogitsRows, static_cast<size_t>(engine.max_rows()));
  for (size_t first = 0; first < tokens.size(); first += chunk) {
    const size_t count = std::min(chunk, tokens.size() - first);
    CANDOR_ASSIGN_OR_RETURN(const std::span<const float> rows,
                            Step(engine, sequence, tokens.subspan(first, count), Logits::kAll));
    CANDOR_RETURN_IF_ERROR(visit(first, rows));
  }
  return OkStatus();
}

Json PhasesToJson(const PhaseTimer& phases) {
  Json json = Json::object();
  for (const auto& [name, milliseconds] : phases.phases()) json[name] = std::round(milliseconds * 1000) / 1000;
  return json;
}

}  // namespace candor::cli
