#include "kernels/gated_activation/gated_activation.h"

#include "kernels/lib/kernel_bench.h"

namespace candor {
namespace {

void Activate(benchmark::State& state, CpuIsa isa, Activation activation) {
  constexpr int64_t kRows = 16;
  constexpr int64_t kWidth = 1536;
  const std::vector<float> x = BenchValues(kRows * kWidth);
  std::vector<float> y(kRows * kWidth);
  const GatedActivationParams params{x.data(), x.data(), y.data(), kWidth, kWidth, kWidth, kWidth, activation};
  TimeKernel(state, isa, 3 * kRows * kWidth, [&] { CpuGatedActivation(isa)(params, 0, kRows); });
}
void Silu(benchmark::State& state, CpuIsa isa) { Activate(state, isa, Activation::kSilu); }
void GeluTanh(benchmark::State& state, CpuIsa isa) { Activate(state, isa, Activation::kGeluTanh); }
void Gelu(benchmark::State& state, CpuIsa isa) { Activate(state, isa, Activation::kGelu); }
CANDOR_KERNEL_BENCH(Silu);
CANDOR_KERNEL_BENCH(GeluTanh);
CANDOR_KERNEL_BENCH(Gelu);

}  // namespace
}  // namespace candor
