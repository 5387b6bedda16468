#include "cli/bench.h"

#include <cmath>

#include "cli/scoring.h"
#include "runtime/philox.h"

namespace candor::cli {
namespace {

// The token at a position, the same in every run.
TokenId RandomToken(const Engine& engine, int64_t position) {
  const double uniform = PhiloxUniform(0, static_cast<uint64_t>(position));
  return static_cast<TokenId>(uniform * engine.model().config().vocabulary);
}

std::vector<TokenId> RandomTokens(const Engine& engine, int64_t first, int64_t count) {
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(RandomToken(engine, first + i));
  return tokens;
}

// A sequence of the test's depth. Made again for each run, since a sliding window does not let a sequence go back.
Result<std::unique_ptr<Sequence>> SequenceOfDepth(Engine& engine, int64_t depth) {
  auto sequence = engine.NewSequence();
  CANDOR_RETURN_IF_ERROR(Prefill(engine, *sequence, RandomTokens(engine, 0, depth)));
  return sequence;
}

Status RunOnce(Engine& engine, Sequence& sequence, const BenchTest& test) {
  if (test.prompt_tokens > 0) {
    return PrefillForLastLogits(engine, sequence, RandomTokens(engine, test.depth, test.prompt_tokens)).status();
  }
  for (int64_t i = 0; i < test.generated_tokens; ++i) {
    const TokenId token = RandomToken(engine, test.depth + i);
    CANDOR_RETURN_IF_ERROR(PrefillForLastLogits(engine, sequence, {&token, 1}).status());
  }
  return OkStatus();
}

Result<double> TimeOnce(Engine& engine, const BenchTest& test) {
  CANDOR_ASSIGN_OR_RETURN(const auto sequence, SequenceOfDepth(engine, test.depth));
  const Stopwatch watch;
  CANDOR_RETURN_IF_ERROR(RunOnce(engine, *sequence, test));
  return watch.Milliseconds();
}

// One run of a prefill test, one token of a decode test: enough to touch every page.
Status WarmUp(Engine& engine, BenchTest test) {
  test.depth = 0;
  if (test.generated_tokens > 0) test.generated_tokens = 1;
  return TimeOnce(engine, test).status();
}

}  // namespace

std::string BenchTest::Name() const {
  std::string name = prompt_tokens > 0 ? fmt::format("pp{}", prompt_tokens) : fmt::format("tg{}", generated_tokens);
  if (depth > 0) name += fmt::format("@d{}", depth);
  return name;
}

std::vector<BenchTest> MakeTests(const std::vector<int64_t>& prompts, const std::vector<int64_t>& generated,
                                 const std::vector<int64_t>& depths) {
  std::vector<BenchTest> tests;
  for (const int64_t depth : depths) {
    for (const int64_t count : prompts) {
      if (count > 0) tests.push_back({.prompt_tokens = count, .generated_tokens = 0, .depth = depth});
    }
    for (const int64_t count : generated) {
      if (count > 0) tests.push_back({.prompt_tokens = 0, .generated_tokens = count, .depth = depth});
    }
  }
  return tests;
}

void Summarize(BenchResult& result) {
  const double tokens = static_cast<double>(result.test.prompt_tokens + result.test.generated_tokens);
  const double count = static_cast<double>(result.milliseconds.size());
  double sum = 0;
  for (const double milliseconds : result.milliseconds) sum += tokens * 1000 / milliseconds;
  result.tokens_per_second = sum / count;
  double squares = 0;
  for (const double milliseconds : result.milliseconds)
    squares += std::pow(tokens * 1000 / milliseconds - result.tokens_per_second, 2);
  result.stddev = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
}

Result<BenchResult> RunBenchTest(Engine& engine, const BenchTest& test, int repetitions, bool warm_up,
                                 PhaseTimer& phases) {
  BenchResult result{.test = test, .milliseconds = {}};
  if (warm_up) {
    const ScopedPhase phase(&phases, "warmup");
    CANDOR_RETURN_IF_ERROR(WarmUp(engine, test));
  }
  for (int i = 0; i < repetitions; ++i) {
    CANDOR_ASSIGN_OR_RETURN(const double milliseconds, TimeOnce(engine, test));
    phases.Add(test.prompt_tokens > 0 ? "prefill" : "decode", milliseconds);
    result.milliseconds.push_back(milliseconds);
  }
  Summarize(result);
  return result;
}

}  // namespace candor::cli
