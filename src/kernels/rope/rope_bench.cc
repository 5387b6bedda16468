#include "kernels/rope/rope.h"

#include "kernels/lib/kernel_bench.h"

namespace candor {
namespace {

constexpr int64_t kRows = 64;

void Rotate(benchmark::State& state, CpuIsa isa, RopePairing pairing) {
  std::vector<float> x = BenchValues(kRows * 576);
  const std::vector<float> table(kRows * 64, 0.70710678f);  // a turn by 45 degrees keeps the values' size
  const RopeParams params{x.data(), 576, 9, 64, 64, pairing, table.data()};
  TimeKernel(state, isa, 2 * kRows * 576, [&] { CpuRope(isa).rotate(params, 0, kRows); });
}
void RotateHalf(benchmark::State& state, CpuIsa isa) { Rotate(state, isa, RopePairing::kHalf); }
void RotateAdjacent(benchmark::State& state, CpuIsa isa) { Rotate(state, isa, RopePairing::kAdjacent); }
CANDOR_KERNEL_BENCH(RotateHalf);
CANDOR_KERNEL_BENCH(RotateAdjacent);

void RopeTableOf(benchmark::State& state, CpuIsa isa) {
  std::vector<int32_t> positions(kRows);
  for (int64_t i = 0; i < kRows; ++i) positions[i] = static_cast<int32_t>(1000 + i);
  const std::vector<double> inverse_frequency(32, 0.01);
  std::vector<float> table(kRows * 64);
  const int32_t* position = positions.data();
  const RopeTableParams params{&position, inverse_frequency.data(), 1.0f, 64, table.data()};
  TimeKernel(state, isa, kRows * 64, [&] { CpuRope(isa).table(params, 0, kRows); });
}
BENCHMARK_CAPTURE(RopeTableOf, any, CpuIsa::kScalar);

}  // namespace
}  // namespace candor
