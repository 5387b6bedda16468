// Sampler: logits to the next token. One per sequence; not thread safe. Same seed, same logits, same tokens: the generator is counter
// based and nothing depends on threads.
// Order: logit bias, penalties, temperature, top-k, top-p, min-p, draw. temperature 0 is greedy (lowest id wins a tie).
// Sources: Holtzman et al. 2020 (top-p), Nguyen et al. 2024 (min-p), Keskar et al. 2019 (repetition penalty).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace candor {

struct SamplerOptions {
  float temperature = 0.8f;
  int32_t top_k = 40;               // <= 0: off
  float top_p = 0.95f;              // >= 1: off
  float min_p = 0.05f;              // <= 0: off
  float repetition_penalty = 1.0f;  // 1: off
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  int32_t penalty_last_n = 64;      // tokens looked back at; -1: all, 0: off
  std::vector<std::pair<TokenId, float>> logit_bias;  // -infinity forbids a token
  uint64_t seed = 0;

  // InvalidArgument names the option, the accepted range and the value (NaN included).
  Status Validate(int32_t vocabulary_size) const;
};

struct SampledToken {
  TokenId id = 0;
  float logprob = 0.0f;  // natural log of its probability under the model before any sampler step
};

class Sampler {
 public:
  static Result<std::unique_ptr<Sampler>> Create(const SamplerOptions& options, int32_t vocabulary_size);

  // Picks the next token. Internal when the logits hold NaN or +infinity or are all equal ("dead" logits): never a silent token 0.
  Result<SampledToken> Sample(std::span<const float> logits);
  // Tells the sampler of a token of the prompt or reply, for the penalties.
  void Accept(TokenId id);
  const SamplerOptions& options() const { return options_; }

 private:
  Sampler(const SamplerOptions& options, int32_t vocabulary_size);
  // Filled in by sampler.cc's author: history ring, scratch, counter.
  SamplerOptions options_;
  int32_t vocabulary_size_ = 0;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace candor
