#include "kernels/rms_norm/rms_norm.h"

#include "kernels/lib/kernel_bench.h"

namespace candor {
namespace {

void RmsNorm(benchmark::State& state, CpuIsa isa) {
  constexpr int64_t kRows = 64;
  constexpr int64_t kWidth = 576;
  const std::vector<float> x = BenchValues(kRows * kWidth);
  std::vector<float> y(kRows * kWidth);
  const RmsNormParams params{x.data(), x.data(), y.data(), kWidth, kWidth, kWidth, 1, 1e-5f};
  TimeKernel(state, isa, 2 * kRows * kWidth, [&] { CpuRmsNorm(isa)(params, 0, kRows); });
}
CANDOR_KERNEL_BENCH(RmsNorm);

}  // namespace
}  // namespace candor
