// What the elementwise kernels' benchmarks share: a row range run on one ISA, bytes/s of what it reads and writes.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "platform/cpu_features.h"

namespace candor {

// Values in [-4, 4) without a pattern that a branch predictor could learn.
inline std::vector<float> BenchValues(size_t count) {
  std::vector<float> values(count);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-21f - 4.0f;
  }
  return values;
}

// Times call() and reports `floats` values moved by each.
template <class Call>
void TimeKernel(benchmark::State& state, CpuIsa isa, int64_t floats, Call call) {
  if (!CpuSupports(isa)) return state.SkipWithError("NOT RUN: this machine lacks the ISA");
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * floats * static_cast<int64_t>(sizeof(float)));
}

#define CANDOR_KERNEL_BENCH(Function)                   \
  BENCHMARK_CAPTURE(Function, scalar, CpuIsa::kScalar); \
  BENCHMARK_CAPTURE(Function, avx2, CpuIsa::kAvx2);     \
  BENCHMARK_CAPTURE(Function, avx512, CpuIsa::kAvx512)

}  // namespace candor
