// Perplexity of a text as llama-perplexity defines it, so that numbers compare: the text is cut into chunks of the
// context's length, each starts with BOS in place of its first token where the model adds one, and the second half of
// each chunk is scored.
#pragma once

#include <functional>
#include <span>

#include "runtime/engine.h"

namespace candor::cli {

struct Perplexity {
  double value = 0;  // exp(mean negative log-likelihood)
  double error = 0;  // its standard error
  size_t chunks = 0;
  size_t scored_tokens = 0;
};

// Sums of negative log-likelihoods, and what follows from them.
class PerplexitySum {
 public:
  void Add(double negative_log_likelihood);
  Perplexity Result(size_t chunks) const;

 private:
  double sum_ = 0;
  double sum_of_squares_ = 0;
  size_t count_ = 0;
};

// -log softmax(logits)[next], in double. `logits` is [vocabulary].
double NegativeLogLikelihood(std::span<const float> logits, TokenId next);

// `on_chunk` is told of each chunk that is done with the result so far. InvalidArgument when the tokens do not fill one
// chunk.
candor::Result<Perplexity> MeasurePerplexity(Engine& engine, std::span<const TokenId> tokens, size_t chunk_length,
                                             bool add_bos, const std::function<void(const Perplexity&)>& on_chunk);

}  // namespace candor::cli
