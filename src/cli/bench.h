// Prefill and decode speed as llama-bench measures it: "pp512" runs 512 prompt tokens, "tg128" decodes 128 tokens one
// by one, "@d1024" does so behind 1024 tokens that are already in the cache. Token ids are pseudo-random; sampling is
// not part of the time.
#pragma once

#include <string>
#include <vector>

#include "runtime/engine.h"

namespace candor::cli {

struct BenchTest {
  int64_t prompt_tokens = 0;  // > 0: prefill; then generated_tokens is 0
  int64_t generated_tokens = 0;
  int64_t depth = 0;

  std::string Name() const;
  int64_t context() const { return depth + prompt_tokens + generated_tokens; }
};

struct BenchResult {
  BenchTest test;
  std::vector<double> milliseconds;  // one a repetition
  double tokens_per_second = 0;      // mean of the repetitions' rates
  double stddev = 0;                 // sample standard deviation of the rates; 0 for a single one
};

// The prefill tests of all prompts, then the decode tests, each at all depths; zeros among prompts and generated are
// left out.
std::vector<BenchTest> MakeTests(const std::vector<int64_t>& prompts, const std::vector<int64_t>& generated,
                                 const std::vector<int64_t>& depths);

// Runs one test `repetitions` times; one more run before them is not counted when `warm_up`, its time goes to the phase
// "warmup".
Result<BenchResult> RunBenchTest(Engine& engine, const BenchTest& test, int repetitions, bool warm_up,
                                 PhaseTimer& phases);

// Fills in mean and deviation from the times.
void Summarize(BenchResult& result);

}  // namespace candor::cli
