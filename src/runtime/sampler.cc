#include "runtime/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/logits_scan.h"
#include "runtime/philox.h"

namespace candor {
namespace {

struct Candidate {
  TokenId id;
  float logit;
  double weight;  // exp((logit - largest logit) / temperature): its probability but for a common factor
};

bool Better(const Candidate& a, const Candidate& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; }

double TotalWeight(std::span<const Candidate> candidates) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  return total;
}

double LogSumExp(std::span<const float> logits, double max) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - max);
  return max + std::log(sum);
}

Status CheckFinite(const char* name, float value) {
  if (std::isfinite(value)) return OkStatus();
  return InvalidArgumentError("{}: expected a finite number, got {}", name, value);
}

// The tokens that the penalties look back at, with how often each was seen.
class PenaltyHistory {
 public:
  PenaltyHistory(int32_t last_n, int32_t vocabulary_size)
      : last_n_(last_n), counts_(static_cast<size_t>(vocabulary_size)) {}

  void Accept(TokenId id) {
    if (last_n_ < 0 || tokens_.size() < static_cast<size_t>(last_n_)) {
      tokens_.push_back(id);
    } else {
      --counts_[static_cast<size_t>(tokens_[oldest_])];
      tokens_[oldest_] = id;
      oldest_ = (oldest_ + 1) % tokens_.size();
    }
    ++counts_[static_cast<size_t>(id)];
  }

  // Calls visit(id, count) once for each distinct token. A count is negated while it waits for its second, third …
  // occurrence.
  template <typename Visit>
  void ForEachDistinct(Visit visit) {
    for (const TokenId id : tokens_) {
      int32_t& count = counts_[static_cast<size_t>(id)];
      if (count < 0) continue;
      visit(id, count);
      count = -count;
    }
    for (const TokenId id : tokens_) {
      int32_t& count = counts_[static_cast<size_t>(id)];
      count = std::abs(count);
    }
  }

 private:
  int32_t last_n_;
  size_t oldest_ = 0;
  std::vector<TokenId> tokens_;
  std::vector<int32_t> counts_;
};

}  // namespace

Status SamplerOptions::Validate(int32_t vocabulary_size) const {
  if (!std::isfinite(temperature) || temperature < 0) {
    return InvalidArgumentError("temperature: expected a number >= 0, got {}", temperature);
  }
  if (std::isnan(top_p) || top_p < 0) return InvalidArgumentError("top_p: expected a number >= 0, got {}", top_p);
  if (std::isnan(min_p) || min_p > 1) return InvalidArgumentError("min_p: expected a number <= 1, got {}", min_p);
  if (!std::isfinite(repetition_penalty) || repetition_penalty <= 0) {
    return InvalidArgumentError("repetition_penalty: expected a number > 0, got {}", repetition_penalty);
  }
  CANDOR_RETURN_IF_ERROR(CheckFinite("presence_penalty", presence_penalty));
  CANDOR_RETURN_IF_ERROR(CheckFinite("frequency_penalty", frequency_penalty));
  if (penalty_last_n < -1) return InvalidArgumentError("penalty_last_n: expected -1 or more, got {}", penalty_last_n);
  for (const auto& [id, bias] : logit_bias) {
    if (id < 0 || id >= vocabulary_size) {
      return InvalidArgumentError("logit_bias: expected a token id from 0 to {}, got {}", vocabulary_size - 1, id);
    }
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return InvalidArgumentError("logit_bias of token {}: expected a finite number or -inf, got {}", id, bias);
    }
  }
  return OkStatus();
}

struct Sampler::State {
  State(const SamplerOptions& sampler_options, int32_t vocabulary_size) : options(sampler_options) {
    const bool penalties =
        options.repetition_penalty != 1 || options.presence_penalty != 0 || options.frequency_penalty != 0;
    if (penalties && options.penalty_last_n != 0) history.emplace(options.penalty_last_n, vocabulary_size);
  }

  bool Adjusts() const { return history.has_value() || !options.logit_bias.empty(); }
  void Adjust(std::span<const float> logits);
  TokenId Draw(std::span<const float> logits);
  double Weight(float logit, float max) const;
  void CollectTopK(std::span<const float> logits, size_t k, float max);
  void CollectTopPOfAll(std::span<const float> logits, float max);
  void CollectAll(std::span<const float> logits, float max);
  void CutTopP(double total);
  void CutMinP();

  const SamplerOptions& options;
  LogitsScan scan;
  std::optional<PenaltyHistory> history;
  std::vector<float> adjusted;
  std::vector<int32_t> indices;
  std::vector<Candidate> candidates;
  uint64_t draws = 0;
};

void Sampler::State::Adjust(std::span<const float> logits) {
  adjusted.assign(logits.begin(), logits.end());
  for (const auto& [id, bias] : options.logit_bias) {
    adjusted[static_cast<size_t>(id)] += bias;
    scan.Rescan(adjusted, static_cast<size_t>(id));
  }
  if (!history) return;
  history->ForEachDistinct([&](TokenId id, int32_t count) {
    float& logit = adjusted[static_cast<size_t>(id)];
    logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    logit -= options.presence_penalty + static_cast<float>(count) * options.frequency_penalty;
    scan.Rescan(adjusted, static_cast<size_t>(id));
  });
}

double Sampler::State::Weight(float logit, float max) const {
  return std::exp((static_cast<double>(logit) - max) / options.temperature);
}

void Sampler::State::CollectTopK(std::span<const float> logits, size_t k, float max) {
  scan.TopCandidates(logits, k, indices);
  candidates.clear();
  for (const int32_t id : indices) {
    const float logit = logits[static_cast<size_t>(id)];
    candidates.push_back({id, logit, Weight(logit, max)});
  }
  std::sort(candidates.begin(), candidates.end(), Better);
  candidates.resize(std::min(candidates.size(), k));
}

// Top-p over the whole vocabulary: sorts only as much of it as the nucleus needs.
void Sampler::State::CollectTopPOfAll(std::span<const float> logits, float max) {
  double total = 0;
  for (const float logit : logits) total += Weight(logit, max);
  for (size_t k = 256;; k *= 8) {
    CollectTopK(logits, k, max);
    if (k >= logits.size() || TotalWeight(candidates) >= options.top_p * total) break;
  }
  CutTopP(total);
}

void Sampler::State::CollectAll(std::span<const float> logits, float max) {
  candidates.clear();
  // Spares the exponential of what min-p certainly drops; CutMinP decides exactly.
  const double slack = 1e-6;
  const double threshold = options.min_p > 0
                               ? max + options.temperature * (std::log(static_cast<double>(options.min_p)) - slack)
                               : -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] < threshold) continue;
    candidates.push_back({static_cast<TokenId>(i), logits[i], Weight(logits[i], max)});
  }
}

void Sampler::State::CutTopP(double total) {
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates.size()) {
    sum += candidates[kept++].weight;
    if (sum >= options.top_p * total) break;
  }
  candidates.resize(kept);
}

void Sampler::State::CutMinP() {
  const double threshold = std::max(static_cast<double>(options.min_p), std::numeric_limits<double>::min());
  std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.weight < threshold; });
}

TokenId Sampler::State::Draw(std::span<const float> logits) {
  const float max = scan.Max();
  const size_t k = options.top_k > 0 ? static_cast<size_t>(options.top_k) : logits.size();
  if (k < logits.size()) {
    CollectTopK(logits, k, max);
    if (options.top_p < 1) CutTopP(TotalWeight(candidates));
  } else if (options.top_p < 1) {
    CollectTopPOfAll(logits, max);
  } else {
    CollectAll(logits, max);
  }
  CutMinP();  // the best token has weight 1, so at least one is left

  double left = PhiloxUniform(options.seed, draws++) * TotalWeight(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate.id;
  }
  return candidates.back().id;
}

Sampler::Sampler(const SamplerOptions& options, int32_t vocabulary_size)
    : options_(options),
      vocabulary_size_(vocabulary_size),
      state_(std::make_unique<State>(options_, vocabulary_size)) {}

Sampler::~Sampler() = default;

Result<std::unique_ptr<Sampler>> Sampler::Create(const SamplerOptions& options, int32_t vocabulary_size) {
  CANDOR_RETURN_IF_ERROR(options.Validate(vocabulary_size));
  return std::unique_ptr<Sampler>(new Sampler(options, vocabulary_size));
}

Result<SampledToken> Sampler::Sample(std::span<const float> logits) {
  if (logits.size() != static_cast<size_t>(vocabulary_size_)) {
    return InvalidArgumentError("logits: expected {} values, got {}", vocabulary_size_, logits.size());
  }
  CANDOR_RETURN_IF_ERROR(state_->scan.Scan(logits));
  const float model_max = state_->scan.Max();
  std::span<const float> row = logits;
  if (state_->Adjusts()) {
    state_->Adjust(logits);
    row = state_->adjusted;
    const float max = state_->scan.Max();
    if (max == -std::numeric_limits<float>::infinity()) {
      return InvalidArgumentError("logit_bias: expected at least one allowed token, got a bias of -inf on every one");
    }
    if (!std::isfinite(max)) {
      return InvalidArgumentError(
          "penalties: expected finite logits after bias and penalties, got {}; use milder values", max);
    }
  }
  SampledToken token;
  token.id = options_.temperature == 0 ? static_cast<TokenId>(state_->scan.ArgMax(row)) : state_->Draw(row);
  if (options_.logprobs) {
    token.logprob = static_cast<float>(logits[static_cast<size_t>(token.id)] - LogSumExp(logits, model_max));
  }
  return token;
}

void Sampler::Accept(TokenId id) {
  if (state_->history && id >= 0 && id < vocabulary_size_) state_->history->Accept(id);
}

}  // namespace candor
