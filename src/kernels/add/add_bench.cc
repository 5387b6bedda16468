#include "kernels/add/add.h"

#include "kernels/lib/kernel_bench.h"

namespace candor {
namespace {

void Add(benchmark::State& state, CpuIsa isa) {
  constexpr int64_t kRows = 64;
  constexpr int64_t kWidth = 576;
  const std::vector<float> a = BenchValues(kRows * kWidth);
  std::vector<float> y(kRows * kWidth);
  TimeKernel(state, isa, 3 * kRows * kWidth, [&] {
    CpuAdd(isa)({a.data(), a.data(), y.data(), kWidth, kWidth}, 0, kRows);
  });
}
CANDOR_KERNEL_BENCH(Add);

}  // namespace
}  // namespace candor
