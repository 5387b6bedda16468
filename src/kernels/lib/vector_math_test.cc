#include "kernels/lib/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/lib/kernel_test.h"
#include "tensor/dequantize.h"

namespace candor {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kBatch = 1 << 16;

class VectorMathTest : public KernelTest {
 protected:
  // Largest error in ulp of the exact result over every `step`-th float in [-|limit|, 0], and as many positive ones
  // when `both`.
  template <class Reference>
  double WorstUlp(void (*function)(const float*, float*, int64_t), Reference reference, float limit, bool both,
                  uint32_t step) const {
    std::vector<float> x;
    std::vector<float> y(kBatch);
    double worst = 0.0;
    const auto flush = [&] {
      x.resize((x.size() + 15) / 16 * 16, 0.0f);
      function(x.data(), y.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = reference(static_cast<double>(x[i]));
        const double ulp = std::ldexp(1.0, std::max(std::ilogb(want == 0.0 ? 1e-40 : want), -126) - 23);
        worst = std::max(worst, std::abs(y[i] - want) / ulp);
      }
      x.clear();
    };
    for (uint32_t bits = 0; bits <= std::bit_cast<uint32_t>(limit); bits += step) {
      x.push_back(-std::bit_cast<float>(bits));
      if (both) x.push_back(std::bit_cast<float>(bits));
      if (x.size() >= kBatch) flush();
    }
    flush();
    return worst;
  }
};

TEST_P(VectorMathTest, ExpIsWithinOneUlp) {
  // Below 2^-126 the result is 0: the limit stops just before.
  const double worst = WorstUlp(
      CpuVectorMath(isa()).exp_non_positive, [](double x) { return std::exp(x); }, 87.3f, false, 997);
  EXPECT_LE(worst, 1.0) << ReproLine();
}

TEST_P(VectorMathTest, TanhIsWithinTwoUlp) {
  EXPECT_LE(WorstUlp(
                CpuVectorMath(isa()).tanh, [](double x) { return std::tanh(x); }, 3e38f, true, 997),
            2.0)
      << ReproLine();
}

TEST_P(VectorMathTest, ExactValues) {
  std::vector<float> x(16, 0.0f), y(16);
  x[1] = -0.0f, x[2] = -kInfinity, x[3] = std::nanf(""), x[4] = -87.4f, x[5] = -1e30f, x[6] = -1e-45f;
  CpuVectorMath(isa()).exp_non_positive(x.data(), y.data(), 16);
  const std::vector<float> exp = {1.0f, 1.0f, 0.0f, std::nanf(""), 0.0f, 0.0f, 1.0f};
  CheckSameBits("exp", std::span(y).first(7), exp);
  x = std::vector<float>(16, 0.0f);
  x[1] = -0.0f, x[2] = -kInfinity, x[3] = kInfinity, x[4] = std::nanf(""), x[5] = 50.0f, x[6] = 1e-42f;
  CpuVectorMath(isa()).tanh(x.data(), y.data(), 16);
  const std::vector<float> tanh = {0.0f, -0.0f, -1.0f, 1.0f, std::nanf(""), 1.0f, 1e-42f};
  CheckSameBits("tanh", std::span(y).first(7), tanh);
}

TEST_P(VectorMathTest, EveryHalfWidensExactlyAndComesBack) {
  std::vector<uint16_t> halves(65536), back(65536);
  std::vector<float> got(65536), want(65536);
  for (uint32_t i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i), want[i] = HalfToFloat(halves[i]);
  CpuVectorMath(isa()).widen_half(halves.data(), got.data(), 65536);
  CheckSameBits("widened", got, want);
  CpuVectorMath(isa()).narrow_to_half(got.data(), back.data(), 65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(HalfToFloat(back[i]))) << i;
    } else {
      ASSERT_EQ(back[i], halves[i]);
    }
  }
}

// Around every half: its neighbours, and the midpoints where rounding to even decides.
TEST_P(VectorMathTest, NarrowingRoundsToNearestEven) {
  std::vector<float> x;
  for (uint32_t i = 0; i < 0x7c00; ++i) {
    const float low = HalfToFloat(static_cast<uint16_t>(i));
    const float high = i == 0x7bff ? 65536.0f : HalfToFloat(static_cast<uint16_t>(i + 1));
    const float middle = 0.5f * (low + high);
    for (const float v :
         {low, std::nextafter(low, high), std::nextafter(middle, low), middle, std::nextafter(middle, high)}) {
      x.push_back(v), x.push_back(-v);
    }
  }
  for (const float v : {1e5f, 3e38f, kInfinity, -kInfinity, 1e-45f, 1e-30f}) x.push_back(v);
  x.resize((x.size() + 15) / 16 * 16, 0.0f);
  std::vector<uint16_t> got(x.size());
  CpuVectorMath(isa()).narrow_to_half(x.data(), got.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i], FloatToHalf(x[i])) << x[i];
}

CANDOR_KERNEL_TEST(VectorMathTest);

}  // namespace
}  // namespace candor
