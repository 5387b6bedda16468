#include "cli/reply_report.h"

#include "base/printable.h"
#include "cli/scoring.h"

namespace candor::cli {
namespace {

double PrefillRate(const GenerateResult& result) {
  return result.prefill_ms > 0 ? static_cast<double>(result.prompt_tokens) * 1000 / result.prefill_ms : 0;
}

// The first token belongs to the prefill; decoding makes the others.
double DecodeRate(const GenerateResult& result) {
  const double tokens = static_cast<double>(result.tokens.size()) - 1;
  return tokens > 0 && result.decode_ms > 0 ? tokens * 1000 / result.decode_ms : 0;
}

Json SamplingToJson(const SamplerOptions& options) {
  return {{"temperature", options.temperature},
          {"top_k", options.top_k},
          {"top_p", options.top_p},
          {"min_p", options.min_p},
          {"repetition_penalty", options.repetition_penalty},
          {"presence_penalty", options.presence_penalty},
          {"frequency_penalty", options.frequency_penalty},
          {"penalty_last_n", options.penalty_last_n}};
}

}  // namespace

void AddReplyPhases(const GenerateResult& result, PhaseTimer& phases) {
  phases.Add("prefill", result.prefill_ms);
  if (result.first_token_ms == 0) return;
  phases.Add("first_token", result.first_token_ms);
  phases.Add("decode", result.decode_ms);
}

Json ReplyToJson(const ReplyReport& report) {
  const GenerateResult& result = report.result;
  Json json = {{"text", result.text},
               {"tokens", result.tokens},
               {"stop_reason", StopReasonName(result.stop_reason)},
               {"prompt_tokens", result.prompt_tokens},
               {"device", report.placement.device},
               {"device_name", report.placement.device_name},
               {"isa", report.placement.isa},
               {"threads", report.placement.threads},
               {"kv_type", report.placement.kv_type},
               {"context", report.context},
               {"model", report.model},
               {"seed", report.sampling.seed},
               {"sampling", SamplingToJson(report.sampling)},
               {"phases", PhasesToJson(report.phases)},
               {"prefill_tokens_per_second", PrefillRate(result)},
               {"decode_tokens_per_second", DecodeRate(result)}};
  if (!result.stop_string.empty()) json["stop_string"] = result.stop_string;
  return json;
}

std::string ReplyStats(const ReplyReport& report) {
  const GenerateResult& result = report.result;
  std::string text =
      fmt::format("\nreply: {} prompt tokens, {} tokens generated, stop: {}, seed {}\n", result.prompt_tokens,
                  result.tokens.size(), StopReasonName(result.stop_reason), report.sampling.seed);
  text +=
      fmt::format("speed: prefill {:.1f} tokens/s, decode {:.1f} tokens/s\n", PrefillRate(result), DecodeRate(result));
  text += "phases (ms):";
  for (const auto& [name, milliseconds] : report.phases.phases()) text += fmt::format(" {} {:.1f}", name, milliseconds);
  text += "\n";
  if (!report.device_reason.empty()) text += fmt::format("device: {}\n", report.device_reason);
  return EscapeControls(text + report.placement.ToText(), "\n");
}

}  // namespace candor::cli
