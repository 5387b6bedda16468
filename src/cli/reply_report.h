// What is said about a reply besides its text: the JSON object of `run --json`, and the lines of --stats.
#pragma once

#include <string>

#include "cli/json.h"
#include "runtime/generate.h"

namespace candor::cli {

struct ReplyReport {
  std::string model;
  GenerateResult result;
  SamplerOptions sampling;
  PlacementReport placement;
  PhaseTimer phases;
  int64_t context = 0;
  std::string device_reason;  // why `auto` chose the device
};

// Adds the reply's own phases: prefill, first_token, decode.
void AddReplyPhases(const GenerateResult& result, PhaseTimer& phases);

Json ReplyToJson(const ReplyReport& report);
std::string ReplyStats(const ReplyReport& report);

}  // namespace candor::cli
