// Sampler: logits to the next token. One per sequence; not thread safe. Same seed, same logits, same tokens: the
// generator is counter based (runtime/philox.h) and nothing depends on threads. No allocation once the first token is
// drawn. Order: logit bias, penalties, temperature, top-k, top-p, min-p, draw. temperature 0 is greedy (lowest id wins
// a tie).
//   penalties, on a token seen c > 0 times in the last penalty_last_n tokens:
//     l = l > 0 ? l / repetition : l * repetition;  l = l - presence - c * frequency
//   temperature: p_i = softmax(l_i / T).  top-k: the k largest.  top-p: the shortest sorted prefix whose share of what
//   is left reaches top_p.  min-p: p_i >= min_p * p_max.
// Sources: Holtzman et al. 2020 (top-p), Nguyen et al. 2024 (min-p), Keskar et al. 2019 (repetition penalty), OpenAI
// API reference (presence and frequency penalty).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace candor {

struct SamplerOptions {
  float temperature = 0.8f;
  int32_t top_k = 40;               // <= 0: off
  float top_p = 0.95f;              // >= 1: off; 0 keeps the best token only
  float min_p = 0.05f;              // <= 0: off; at most 1
  float repetition_penalty = 1.0f;  // 1: off
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  int32_t penalty_last_n = 64;                        // tokens looked back at; -1: all, 0: off
  std::vector<std::pair<TokenId, float>> logit_bias;  // added; -infinity forbids a token
  uint64_t seed = 0;
  bool logprobs = false;  // fill SampledToken::logprob: one more pass over the vocabulary

  // InvalidArgument names the option, the accepted range and the value (NaN included).
  Status Validate(int32_t vocabulary_size) const;
};

struct SampledToken {
  TokenId id = 0;
  std::optional<float> logprob;  // natural log of its probability under the model, before any sampler step
};

class Sampler {
 public:
  static Result<std::unique_ptr<Sampler>> Create(const SamplerOptions& options, int32_t vocabulary_size);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Picks the next token. DataLoss when the logits hold NaN or +infinity or are all equal ("dead" logits): never a
  // silent token 0. InvalidArgument when the bias forbids every token that the model allows, or the row is not one
  // vocabulary long.
  Result<SampledToken> Sample(std::span<const float> logits);
  // Tells the sampler of a token of the prompt or reply, for the penalties.
  void Accept(TokenId id);
  const SamplerOptions& options() const { return options_; }

 private:
  Sampler(const SamplerOptions& options, int32_t vocabulary_size);
  struct State;
  SamplerOptions options_;
  int32_t vocabulary_size_ = 0;
  std::unique_ptr<State> state_;
};

}  // namespace candor
