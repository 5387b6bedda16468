// The flags of `candor run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/sampling_flags.h"
#include "runtime/generate.h"

namespace candor::cli {

struct RunFlags {
  std::string model;
  LoadOptions load;
  SamplingFlags sampling;
  std::optional<std::string> prompt;
  std::string file;
  std::optional<std::string> ids;
  std::optional<std::string> system;
  bool raw = false;
  bool parse_special = false;
  int64_t max_tokens = -1;
  std::vector<std::string> stop;
  bool ignore_eos = false;
  bool stats = false;
  std::string report;
  bool json = false;
};

// A request with everything but the prompt.
GenerateRequest MakeRequest(const RunFlags& flags, const SamplerOptions& sampling);

}  // namespace candor::cli
