#include "runtime/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "runtime/logits_scan.h"
#include "runtime/philox.h"

namespace candor {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> RandomLogits(size_t size, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = normal(generator);
  return logits;
}

SamplerOptions PlainOptions() {
  SamplerOptions options;
  options.temperature = 1;
  options.top_k = 0;
  options.top_p = 1;
  options.min_p = 0;
  return options;
}

SamplerOptions GreedyOptions() {
  SamplerOptions options = PlainOptions();
  options.temperature = 0;
  return options;
}

std::unique_ptr<Sampler> MakeSampler(const SamplerOptions& options, size_t vocabulary) {
  auto sampler = Sampler::Create(options, static_cast<int32_t>(vocabulary));
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  return std::move(sampler).value();
}

TokenId SampleOne(Sampler& sampler, std::span<const float> logits) {
  auto token = sampler.Sample(logits);
  EXPECT_TRUE(token.ok()) << token.status().message();
  return token.ok() ? token->id : -1;
}

// The formulas of sampler.h over the whole sorted vocabulary, in double: the probability of each token.
std::vector<double> ReferenceDistribution(const std::vector<double>& logits, const SamplerOptions& options) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  if (options.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(options.top_k)));
  const double max = logits[order.front()];
  std::vector<double> weights;
  for (const size_t id : order)
    weights.push_back(std::exp((logits[id] - max) / static_cast<double>(options.temperature)));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (options.top_p < 1) {
    size_t kept = 0;
    for (double share = 0; kept < weights.size() && share < options.top_p;) share += weights[kept++] / total;
    weights.resize(std::max<size_t>(kept, 1));
  }
  if (options.min_p > 0)
    std::erase_if(weights, [&](double weight) { return weight < options.min_p * weights.front(); });
  const double left = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> probabilities(logits.size());
  for (size_t i = 0; i < weights.size(); ++i) probabilities[order[i]] = weights[i] / left;
  return probabilities;
}

// Draws many tokens and compares their frequencies with the reference within 5 standard deviations of a binomial count.
void ExpectDistribution(const SamplerOptions& options, const std::vector<float>& logits, int draws) {
  const auto probabilities = ReferenceDistribution({logits.begin(), logits.end()}, options);
  auto sampler = MakeSampler(options, logits.size());
  std::vector<int> counts(logits.size());
  for (int i = 0; i < draws; ++i) ++counts[static_cast<size_t>(SampleOne(*sampler, logits))];
  for (size_t id = 0; id < logits.size(); ++id) {
    const double p = probabilities[id];
    const double bound = p == 0 ? 0 : 5 * std::sqrt(draws * p * (1 - p)) + 1;
    EXPECT_NEAR(counts[id], draws * p, bound) << "token " << id << " of probability " << p;
  }
}

TEST(PhiloxTest, MatchesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(Philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, UniformStaysInRangeAndHasMeanOneHalf) {
  double sum = 0;
  const int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const double value = PhiloxUniform(7, static_cast<uint64_t>(i));
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / draws, 0.5, 5 * std::sqrt(1.0 / 12 / draws));
}

TEST(LogitsScanTest, TopCandidatesAreTheLargestAtEverySizeAndK) {
  for (const size_t size : {1u, 2u, 63u, 64u, 65u, 1000u, 4096u, 10007u}) {
    const auto logits = RandomLogits(size, static_cast<uint32_t>(size));
    LogitsScan scan;
    ASSERT_TRUE(scan.Scan(logits).ok());
    std::vector<int32_t> sorted(size);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
    EXPECT_EQ(scan.ArgMax(logits), static_cast<size_t>(sorted[0]));
    for (const size_t k : {1u, 2u, 15u, 16u, 40u, 157u, 2000u, 20000u}) {
      std::vector<int32_t> expected(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(std::min(k, size)));
      std::sort(expected.begin(), expected.end());
      std::vector<int32_t> got;
      scan.TopCandidates(logits, k, got);
      EXPECT_EQ(got, expected) << "size " << size << ", k " << k;
    }
  }
}

TEST(SamplerTest, GreedyTakesTheLowestIdOfATie) {
  std::vector<float> logits(300, -1.0f);
  logits[70] = logits[71] = logits[250] = 2.5f;
  EXPECT_EQ(SampleOne(*MakeSampler(GreedyOptions(), 300), logits), 70);
}

TEST(SamplerTest, DeadOrBrokenLogitsAreErrors) {
  const auto healthy = RandomLogits(200, 3);
  for (const SamplerOptions& options : {GreedyOptions(), PlainOptions(), SamplerOptions()}) {
    auto sampler = MakeSampler(options, healthy.size());
    for (const size_t where : {size_t{0}, size_t{63}, size_t{64}, size_t{199}}) {
      for (const float bad : {kNan, kInf}) {
        auto logits = healthy;
        logits[where] = bad;
        EXPECT_EQ(sampler->Sample(logits).status().code(), StatusCode::kDataLoss) << bad << " at " << where;
      }
    }
    for (const float constant : {0.0f, -7.5f, -kInf}) {
      EXPECT_EQ(sampler->Sample(std::vector<float>(200, constant)).status().code(), StatusCode::kDataLoss) << constant;
    }
    EXPECT_EQ(sampler->Sample(std::span(healthy).first(199)).status().code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(sampler->Sample(healthy).ok());
  }
}

TEST(SamplerTest, AModelMayForbidTokensWithMinusInfinity) {
  std::vector<float> logits(100, -kInf);
  logits[42] = 1;
  logits[43] = 0;
  auto sampler = MakeSampler(PlainOptions(), 100);
  for (int i = 0; i < 200; ++i) {
    const TokenId id = SampleOne(*sampler, logits);
    EXPECT_TRUE(id == 42 || id == 43) << id;
  }
}

TEST(SamplerTest, EachFilterGivesTheDistributionOfItsFormula) {
  const auto logits = RandomLogits(150, 11);
  auto with = [](auto change) {
    SamplerOptions options = PlainOptions();
    options.seed = 20240607;
    change(options);
    return options;
  };
  ExpectDistribution(with([](auto&) {}), logits, 20000);
  ExpectDistribution(with([](auto& o) { o.temperature = 0.3f; }), logits, 20000);
  ExpectDistribution(with([](auto& o) { o.temperature = 3.0f; }), logits, 20000);
  ExpectDistribution(with([](auto& o) { o.top_k = 5; }), logits, 20000);
  ExpectDistribution(with([](auto& o) { o.top_p = 0.7f; }), logits, 20000);
  ExpectDistribution(with([](auto& o) { o.min_p = 0.2f; }), logits, 20000);
  ExpectDistribution(with([](auto& o) { o.top_k = 20, o.top_p = 0.9f, o.min_p = 0.1f, o.temperature = 1.3f; }), logits,
                     20000);
  ExpectDistribution(with([](auto& o) { o.top_p = 0.9f, o.min_p = 0.3f, o.temperature = 2.0f; }), logits, 20000);
}

TEST(SamplerTest, TopPOverALargeFlatVocabularyGrowsUntilItsShareIsReached) {
  const auto logits = RandomLogits(700, 5);
  SamplerOptions options = PlainOptions();
  options.temperature = 50;  // nearly flat: the nucleus holds hundreds of tokens, more than the first cut sorts
  options.top_p = 0.9f;
  const auto probabilities = ReferenceDistribution({logits.begin(), logits.end()}, options);
  auto sampler = MakeSampler(options, logits.size());
  std::vector<bool> seen(logits.size());
  for (int i = 0; i < 8000; ++i) {
    const auto id = static_cast<size_t>(SampleOne(*sampler, logits));
    ASSERT_GT(probabilities[id], 0) << id;
    seen[id] = true;
  }
  const auto nucleus = std::count_if(probabilities.begin(), probabilities.end(), [](double p) { return p > 0; });
  EXPECT_GT(std::count(seen.begin(), seen.end(), true), nucleus * 99 / 100);
}

TEST(SamplerTest, ZeroTopPAndFullMinPKeepTheBestOnly) {
  const auto logits = RandomLogits(1000, 9);
  const auto best = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  SamplerOptions top_p = PlainOptions();
  top_p.top_p = 0;
  SamplerOptions min_p = PlainOptions();
  min_p.min_p = 1;
  SamplerOptions cold = PlainOptions();
  cold.temperature = 1e-30f;
  for (const SamplerOptions& options : {top_p, min_p, cold}) {
    auto sampler = MakeSampler(options, logits.size());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(SampleOne(*sampler, logits), best);
  }
}

TEST(SamplerTest, SameSeedSameTokensOtherSeedOtherTokens) {
  const auto logits = RandomLogits(500, 21);
  auto draw = [&](uint64_t seed) {
    SamplerOptions options = PlainOptions();
    options.seed = seed;
    auto sampler = MakeSampler(options, logits.size());
    std::vector<TokenId> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(SampleOne(*sampler, logits));
    return ids;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  EXPECT_NE(draw(1), draw(1ull << 32 | 1));
}

TEST(SamplerTest, PenaltiesFollowTheirFormulas) {
  const auto logits = RandomLogits(64, 31);
  const std::vector<TokenId> history = {3, 9, 3, 17, 40, 3, 9};
  SamplerOptions options = PlainOptions();
  options.repetition_penalty = 1.4f;
  options.presence_penalty = 0.3f;
  options.frequency_penalty = 0.2f;
  options.logit_bias = {{17, 2.0f}, {5, -1.0f}};
  options.seed = 5;

  std::vector<double> expected(logits.begin(), logits.end());
  expected[17] += 2.0;
  expected[5] -= 1.0;
  std::map<TokenId, int> counts;
  for (const TokenId id : history) ++counts[id];
  for (const auto& [id, count] : counts) {
    double& logit = expected[static_cast<size_t>(id)];
    logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    logit -= options.presence_penalty + count * static_cast<double>(options.frequency_penalty);
  }
  const auto probabilities = ReferenceDistribution(expected, PlainOptions());

  auto sampler = MakeSampler(options, logits.size());
  for (const TokenId id : history) sampler->Accept(id);
  const int draws = 40000;
  std::vector<int> drawn(logits.size());
  for (int i = 0; i < draws; ++i) ++drawn[static_cast<size_t>(SampleOne(*sampler, logits))];
  for (size_t id = 0; id < logits.size(); ++id) {
    const double p = probabilities[id];
    EXPECT_NEAR(drawn[id], draws * p, 5 * std::sqrt(draws * p * (1 - p)) + 1) << "token " << id;
  }
}

TEST(SamplerTest, PenaltiesForgetTokensBeyondTheirWindow) {
  std::vector<float> logits(10, 0.0f);
  logits[4] = 2.0f;
  logits[6] = 1.0f;
  SamplerOptions options = GreedyOptions();
  options.presence_penalty = 5;
  options.penalty_last_n = 2;
  auto sampler = MakeSampler(options, logits.size());
  EXPECT_EQ(SampleOne(*sampler, logits), 4);
  sampler->Accept(4);
  EXPECT_EQ(SampleOne(*sampler, logits), 6);
  sampler->Accept(4);
  sampler->Accept(0);
  EXPECT_EQ(SampleOne(*sampler, logits), 6);  // the second 4 is still inside
  sampler->Accept(1);
  EXPECT_EQ(SampleOne(*sampler, logits), 4);

  options.penalty_last_n = -1;
  auto all = MakeSampler(options, logits.size());
  all->Accept(4);
  for (int i = 0; i < 1000; ++i) all->Accept(1);
  EXPECT_EQ(SampleOne(*all, logits), 6);
}

TEST(SamplerTest, GreedyHonoursBias) {
  auto logits = RandomLogits(1000, 41);
  const auto best = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  SamplerOptions options = GreedyOptions();
  options.logit_bias = {{best, -kInf}, {123, 100.0f}};
  EXPECT_EQ(SampleOne(*MakeSampler(options, logits.size()), logits), 123);

  options.logit_bias.clear();
  for (TokenId id = 0; id < 1000; ++id) options.logit_bias.emplace_back(id, -kInf);
  EXPECT_EQ(MakeSampler(options, logits.size())->Sample(logits).status().code(), StatusCode::kInvalidArgument);
}

TEST(SamplerTest, LogprobIsOfTheModelBeforeAnyStep) {
  const auto logits = RandomLogits(777, 51);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  SamplerOptions options;
  options.temperature = 0.1f;
  options.logit_bias = {{10, 50.0f}};
  options.logprobs = true;
  auto token = MakeSampler(options, logits.size())->Sample(logits);
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->id, 10);
  ASSERT_TRUE(token->logprob.has_value());
  EXPECT_NEAR(*token->logprob, logits[10] - std::log(sum), 1e-5);
  options.logprobs = false;
  EXPECT_FALSE(MakeSampler(options, logits.size())->Sample(logits)->logprob.has_value());
}

TEST(SamplerTest, ValidateNamesOptionAndValue) {
  auto message = [](auto change) {
    SamplerOptions options;
    change(options);
    const Status status = options.Validate(100);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_EQ(message([](auto& o) { o.temperature = kNan; }), "temperature: expected a number >= 0, got nan");
  EXPECT_EQ(message([](auto& o) { o.temperature = -1; }), "temperature: expected a number >= 0, got -1");
  EXPECT_EQ(message([](auto& o) { o.temperature = kInf; }), "temperature: expected a number >= 0, got inf");
  EXPECT_EQ(message([](auto& o) { o.top_p = kNan; }), "top_p: expected a number >= 0, got nan");
  EXPECT_EQ(message([](auto& o) { o.min_p = 1.5f; }), "min_p: expected a number <= 1, got 1.5");
  EXPECT_EQ(message([](auto& o) { o.min_p = kNan; }), "min_p: expected a number <= 1, got nan");
  EXPECT_EQ(message([](auto& o) { o.repetition_penalty = 0; }), "repetition_penalty: expected a number > 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.presence_penalty = kNan; }), "presence_penalty: expected a finite number, got nan");
  EXPECT_EQ(message([](auto& o) { o.frequency_penalty = kInf; }),
            "frequency_penalty: expected a finite number, got inf");
  EXPECT_EQ(message([](auto& o) { o.penalty_last_n = -2; }), "penalty_last_n: expected -1 or more, got -2");
  EXPECT_EQ(message([](auto& o) {
              o.logit_bias = {{100, 0.0f}};
            }),
            "logit_bias: expected a token id from 0 to 99, got 100");
  EXPECT_EQ(message([](auto& o) {
              o.logit_bias = {{-1, 0.0f}};
            }),
            "logit_bias: expected a token id from 0 to 99, got -1");
  EXPECT_EQ(message([](auto& o) {
              o.logit_bias = {{5, kNan}};
            }),
            "logit_bias of token 5: expected a finite number or -inf, got nan");
  EXPECT_TRUE(SamplerOptions().Validate(100).ok());
}

TEST(SamplerTest, ExtremePenaltiesAreAnErrorNotNan) {
  const auto logits = RandomLogits(100, 61);
  const auto best = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  SamplerOptions options = PlainOptions();
  options.repetition_penalty = 1e-38f;
  options.presence_penalty = -3e38f;
  auto sampler = MakeSampler(options, logits.size());
  sampler->Accept(best);
  EXPECT_EQ(sampler->Sample(logits).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace candor
