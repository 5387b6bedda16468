#include "kernels/rms_norm/rms_norm.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernels/lib/kernel_test.h"

namespace candor {
namespace {

class RmsNormTest : public KernelTest {
 protected:
  struct Case {
    int64_t rows = 1;
    int64_t width = 1;
    int64_t groups = 1;
    bool weighted = true;
    float magnitude = 1.0f;
    float eps = 1e-5f;
  };

  // The mean is exact to double; x * scale * w rounds three times (scale, two products).
  void Run(const Case& c) const {
    const int64_t stride = c.width * c.groups + 3;
    TestRandom random;
    const std::vector<float> x = random.Normals(c.rows * stride, c.magnitude);
    const std::vector<float> w = random.Normals(c.width);
    const float* weights = c.weighted ? w.data() : nullptr;
    GuardedFloats y(c.rows * stride);
    std::vector<Expected> want(c.rows * stride, {std::nan(""), 0.0});
    std::vector<double> group(c.width);
    for (int64_t i = 0; i < c.rows * c.groups; ++i) {
      const int64_t begin = i / c.groups * stride + i % c.groups * c.width;
      ReferenceRmsNorm(x.data() + begin, weights, c.width, c.eps, group.data());
      for (int64_t j = 0; j < c.width; ++j)
        want[begin + j] = {group[j], 3.1 * kRoundoff * std::abs(group[j]) + 0x1p-149};
    }
    RmsNormParams params{x.data(), weights, y.data(), stride, stride, c.width, c.groups, c.eps};
    CpuRmsNorm(isa())(params, 0, c.rows);
    Check(fmt::format("rms_norm {} x {} x {}, magnitude {}", c.rows, c.groups, c.width, c.magnitude), y, want);
  }
};

TEST_P(RmsNormTest, AwkwardShapes) {
  for (const int64_t width : {1, 3, 7, 8, 9, 16, 17, 31, 64, 100, 576, 577, 4096}) {
    Run({.rows = 2, .width = width});
    Run({.rows = 1, .width = width, .weighted = false});
    Run({.rows = 3, .width = width, .groups = 4});
  }
}

TEST_P(RmsNormTest, ExtremeMagnitudes) {
  Run({.rows = 2, .width = 577, .magnitude = 1e30f});  // squares beyond float
  Run({.rows = 2, .width = 577, .magnitude = 1e-30f, .eps = 0.0f});
  Run({.rows = 2, .width = 577, .magnitude = 1e-3f});
}

TEST_P(RmsNormTest, ZeroRowIsZero) {
  const std::vector<float> x(9, 0.0f);
  GuardedFloats y(9);
  CpuRmsNorm(isa())({x.data(), nullptr, y.data(), 9, 9, 9, 1, 1e-6f}, 0, 1);
  CheckSameBits("zeros", y.span(), x);
}

TEST_P(RmsNormTest, InPlaceAndRowByRowGiveTheSameBits) {
  constexpr int64_t kRows = 5;
  constexpr int64_t kWidth = 77;
  TestRandom random;
  std::vector<float> x = random.Normals(kRows * kWidth);
  const std::vector<float> w = random.Normals(kWidth);
  GuardedFloats whole(kRows * kWidth);
  CpuRmsNorm(isa())({x.data(), w.data(), whole.data(), kWidth, kWidth, kWidth, 1, 1e-6f}, 0, kRows);
  for (int64_t row = kRows - 1; row >= 0; --row) {
    CpuRmsNorm(isa())({x.data(), w.data(), x.data(), kWidth, kWidth, kWidth, 1, 1e-6f}, row, row + 1);
  }
  CheckSameBits("row by row, in place", x, whole.span());
}

TEST_P(RmsNormTest, NonFiniteSurfacesInTheWholeGroupAndOnlyThere) {
  for (const int64_t at : {0, 8, 16}) {
    std::vector<float> x(2 * 17, 1.0f);
    x[at] = std::nanf("");
    GuardedFloats y(2 * 17);
    CpuRmsNorm(isa())({x.data(), nullptr, y.data(), 34, 34, 17, 2, 1e-6f}, 0, 1);
    for (int64_t i = 0; i < 34; ++i) EXPECT_EQ(std::isnan(y.data()[i]), i < 17) << "NaN at " << at << ", index " << i;
    x[at] = std::numeric_limits<float>::infinity();
    CpuRmsNorm(isa())({x.data(), nullptr, y.data(), 34, 34, 17, 2, 1e-6f}, 0, 1);
    EXPECT_TRUE(std::isnan(y.data()[at]));
  }
}

CANDOR_KERNEL_TEST(RmsNormTest);

}  // namespace
}  // namespace candor
