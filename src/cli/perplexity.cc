#include "cli/perplexity.h"

#include <algorithm>
#include <cmath>

#include "cli/scoring.h"

namespace candor::cli {
namespace {

// Scores tokens [n/2 + 1, n) of one chunk, each by the logits of the position before it.
Status ScoreChunk(Engine& engine, std::span<const TokenId> chunk, PerplexitySum& sum) {
  const auto sequence = engine.NewSequence();
  const size_t first_scored = chunk.size() / 2;
  CANDOR_RETURN_IF_ERROR(Prefill(engine, *sequence, chunk.first(first_scored)));
  const size_t vocabulary = engine.model().config().vocabulary;
  const auto rows_to_score = chunk.subspan(first_scored, chunk.size() - 1 - first_scored);
  std::vector<double> scores;
  return ForEachLogitsBlock(engine, *sequence, rows_to_score, [&](size_t first, std::span<const float> rows) {
    scores.resize(rows.size() / vocabulary);
    engine.model().threads().ParallelFor(static_cast<int64_t>(scores.size()), 1, [&](int64_t begin, int64_t end) {
      for (size_t row = static_cast<size_t>(begin); row < static_cast<size_t>(end); ++row) {
        const TokenId next = chunk[first_scored + first + row + 1];
        scores[row] = NegativeLogLikelihood(rows.subspan(row * vocabulary, vocabulary), next);
      }
    });
    for (const double score : scores) sum.Add(score);
    return OkStatus();
  });
}

}  // namespace

double NegativeLogLikelihood(std::span<const float> logits, TokenId next) {
  const double max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - max);
  return std::log(sum) + max - logits[static_cast<size_t>(next)];
}

void PerplexitySum::Add(double negative_log_likelihood) {
  sum_ += negative_log_likelihood;
  sum_of_squares_ += negative_log_likelihood * negative_log_likelihood;
  ++count_;
}

Perplexity PerplexitySum::Result(size_t chunks) const {
  const double count = static_cast<double>(count_);
  const double mean = sum_ / count;
  const double variance = std::max(0.0, sum_of_squares_ / count - mean * mean);
  const double value = std::exp(mean);
  const double error = count_ > 1 ? value * std::sqrt(variance / (count - 1)) : 0;
  return {.value = value, .error = error, .chunks = chunks, .scored_tokens = count_};
}

candor::Result<Perplexity> MeasurePerplexity(Engine& engine, std::span<const TokenId> tokens, size_t chunk_length,
                                             bool add_bos, const std::function<void(const Perplexity&)>& on_chunk) {
  if (tokens.size() < chunk_length) {
    return InvalidArgumentError(
        "text: expected at least the {} tokens of one chunk, got {}; use a longer text or a smaller -c", chunk_length,
        tokens.size());
  }
  PerplexitySum sum;
  std::vector<TokenId> chunk(chunk_length);
  const size_t chunks = tokens.size() / chunk_length;
  for (size_t i = 0; i < chunks; ++i) {
    const auto source = tokens.subspan(i * chunk_length, chunk_length);
    chunk.assign(source.begin(), source.end());
    if (add_bos) chunk.front() = engine.model().tokenizer().bos();
    CANDOR_RETURN_IF_ERROR(ScoreChunk(engine, chunk, sum));
    const Perplexity so_far = sum.Result(i + 1);
    if (!std::isfinite(so_far.value))
      return DataLossError("perplexity: expected a number, got {}; the model file is broken", so_far.value);
    on_chunk(so_far);
  }
  return sum.Result(chunks);
}

}  // namespace candor::cli
