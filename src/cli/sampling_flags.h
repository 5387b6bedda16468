// The sampling flags of `run`, and how they meet the model file's own recommendation.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/model_file.h"
#include "runtime/sampler.h"

namespace candor::cli {

// What the user gave; everything else comes from the file's general.sampling.* keys, then from SamplerOptions.
struct SamplingFlags {
  std::optional<float> temperature;
  std::optional<int32_t> top_k;
  std::optional<float> top_p;
  std::optional<float> min_p;
  std::optional<float> repetition_penalty;
  std::optional<float> presence_penalty;
  std::optional<float> frequency_penalty;
  std::optional<int32_t> penalty_last_n;
  std::optional<uint64_t> seed;
  std::vector<std::pair<TokenId, float>> logit_bias;
};

void AddSamplingFlags(CLI::App& app, SamplingFlags& flags);

// Flags over file over defaults; an unset seed is drawn at random (32 bits, so that every JSON reader keeps it).
// InvalidArgument names a general.sampling key that is no number.
Result<SamplerOptions> ResolveSampling(const SamplingFlags& flags, const ModelFile& file);

// "ID=VALUE", VALUE a number or -inf. InvalidArgument.
Result<std::pair<TokenId, float>> ParseLogitBias(const std::string& text);

}  // namespace candor::cli
