#include "kernels/add/add.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernels/lib/kernel_test.h"

namespace candor {
namespace {

class AddTest : public KernelTest {
 protected:
  struct Case {
    int64_t rows;
    int64_t width;
    int64_t padding;
  };

  void Run(const Case& c) const {
    const int64_t stride = c.width + c.padding;
    TestRandom random;
    const std::vector<float> a = random.Normals(c.rows * stride);
    const std::vector<float> b = random.Normals(c.rows * stride, 1e-3f);
    GuardedFloats y(c.rows * stride);
    std::vector<Expected> want(c.rows * stride, {std::nan(""), 0.0});
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t i = row * stride; i < row * stride + c.width; ++i) {
        const double sum = static_cast<double>(a[i]) + b[i];
        want[i] = {sum, std::abs(sum) * kRoundoff};
      }
    }
    CpuAdd(isa())({a.data(), b.data(), y.data(), stride, c.width}, 0, c.rows);
    Check(fmt::format("add {} x {} stride {}", c.rows, c.width, stride), y, want);
  }
};

TEST_P(AddTest, AwkwardShapes) {
  for (const int64_t width : {1, 2, 7, 8, 9, 15, 16, 17, 33, 576, 577}) Run({3, width, 0}), Run({2, width, 5});
}

TEST_P(AddTest, OnlyTheRowsAskedFor) {
  const std::vector<float> a(12, 1.0f);
  GuardedFloats y(12);
  CpuAdd(isa())({a.data(), a.data(), y.data(), 4, 4}, 1, 2);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(std::isnan(y.data()[i]), i < 4 || i >= 8) << i;
}

TEST_P(AddTest, OutputMayBeAnInput) {
  std::vector<float> a = {1.0f, 2.0f, 3.0f};
  const std::vector<float> b = {10.0f, 20.0f, 30.0f};
  CpuAdd(isa())({a.data(), b.data(), a.data(), 3, 3}, 0, 1);
  CheckSameBits("in place", a, std::vector<float>{11.0f, 22.0f, 33.0f});
}

TEST_P(AddTest, NonFiniteSurfaces) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {std::nanf(""), 1.0f, kInfinity, kInfinity};
  const std::vector<float> b = {1.0f, std::nanf(""), 1.0f, -kInfinity};
  GuardedFloats y(4);
  CpuAdd(isa())({a.data(), b.data(), y.data(), 4, 4}, 0, 1);
  CheckSameBits("sums", y.span(), std::vector<float>{std::nanf(""), std::nanf(""), kInfinity, std::nanf("")});
}

CANDOR_KERNEL_TEST(AddTest);

}  // namespace
}  // namespace candor
