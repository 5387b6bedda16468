// The arithmetic of bench and perplexity.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/bench.h"
#include "cli/perplexity.h"

namespace candor::cli {
namespace {

TEST(BenchTest, NamesFollowLlamaBench) {
  EXPECT_EQ((BenchTest{.prompt_tokens = 512}).Name(), "pp512");
  EXPECT_EQ((BenchTest{.generated_tokens = 128}).Name(), "tg128");
  EXPECT_EQ((BenchTest{.prompt_tokens = 512, .depth = 1024}).Name(), "pp512@d1024");
  EXPECT_EQ((BenchTest{.generated_tokens = 16, .depth = 8}).context(), 24);
}

TEST(BenchTest, EveryCombinationOnceAndZerosLeftOut) {
  std::vector<std::string> names;
  for (const BenchTest& test : MakeTests({512, 0, 64}, {128}, {0, 32})) names.push_back(test.Name());
  EXPECT_EQ(names, (std::vector<std::string>{"pp512", "pp64", "tg128", "pp512@d32", "pp64@d32", "tg128@d32"}));
  EXPECT_TRUE(MakeTests({0}, {0}, {0}).empty());
}

TEST(BenchTest, MeanAndSampleDeviationOfTheRates) {
  BenchResult result{.test = {.prompt_tokens = 100}, .milliseconds = {1000, 500, 250}};  // 100, 200, 400 tokens/s
  Summarize(result);
  const double mean = 700.0 / 3;
  EXPECT_NEAR(result.tokens_per_second, mean, 1e-9);
  const double squares = std::pow(100 - mean, 2) + std::pow(200 - mean, 2) + std::pow(400 - mean, 2);
  EXPECT_NEAR(result.stddev, std::sqrt(squares / 2), 1e-9);

  BenchResult single{.test = {.generated_tokens = 10}, .milliseconds = {100}};
  Summarize(single);
  EXPECT_NEAR(single.tokens_per_second, 100, 1e-9);
  EXPECT_EQ(single.stddev, 0);
}

TEST(PerplexityTest, IsTheExponentialOfTheMeanNegativeLogLikelihood) {
  PerplexitySum sum;
  const std::vector<float> first = {std::log(1.0f), std::log(2.0f), std::log(5.0f)};  // probabilities 1/8, 2/8, 5/8
  const std::vector<float> second = {1000, 1000, -1000};  // 1/2, 1/2, 0; would overflow without care
  sum.Add(NegativeLogLikelihood(first, 2));
  sum.Add(NegativeLogLikelihood(first, 0));
  sum.Add(NegativeLogLikelihood(second, 1));
  const double nll[] = {std::log(8.0 / 5), std::log(8.0), std::log(2.0)};
  const double mean = (nll[0] + nll[1] + nll[2]) / 3;
  const double variance = (nll[0] * nll[0] + nll[1] * nll[1] + nll[2] * nll[2]) / 3 - mean * mean;
  const Perplexity result = sum.Result(1);
  EXPECT_NEAR(result.value, std::exp(mean), 1e-6);
  EXPECT_NEAR(result.error, std::exp(mean) * std::sqrt(variance / 2), 1e-6);
  EXPECT_EQ(result.scored_tokens, 3u);
}

}  // namespace
}  // namespace candor::cli
