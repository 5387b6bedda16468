#include "kernels/gated_activation/gated_activation.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/lib/kernel_test.h"

namespace candor {
namespace {

constexpr Activation kActivations[] = {Activation::kSilu, Activation::kGeluTanh, Activation::kGelu};

// Derived: e^-d 1.6 roundoffs, 1 + e or the tail's polynomial and quotient at most 5, the products around them 3; the
// last product with `up` 1. In the subnormal range two more roundings to multiples of 2^-149.
constexpr double kRoundings = 10.0;

class GatedActivationTest : public KernelTest {
 protected:
  void Run(Activation activation, std::span<const float> gate, std::span<const float> up, int64_t width) const {
    const int64_t rows = gate.size() / width;
    GuardedFloats y(gate.size());
    std::vector<Expected> want(gate.size());
    for (size_t i = 0; i < gate.size(); ++i) {
      const double value = ReferenceActivation(activation, gate[i]) * up[i];
      want[i] = {value, kRoundings * kRoundoff * std::abs(value) + 0x1p-149 * (2.0 * std::abs(up[i]) + 1.0)};
    }
    CpuGatedActivation(isa())({gate.data(), up.data(), y.data(), width, width, width, width, activation}, 0, rows);
    Check(fmt::format("activation {} width {}", static_cast<int>(activation), width), y, want);
  }
};

TEST_P(GatedActivationTest, AwkwardShapes) {
  TestRandom random;
  for (const Activation activation : kActivations) {
    for (const int64_t width : {1, 2, 7, 8, 9, 16, 17, 31, 1536, 1537}) {
      Run(activation, random.Normals(3 * width, 3.0f), random.Normals(3 * width), width);
    }
  }
}

// Every 4099th float of both signs, from the subnormals to the largest.
TEST_P(GatedActivationTest, FewUlpOverTheWholeRange) {
  std::vector<float> gate;
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 4099) {
    gate.push_back(std::bit_cast<float>(bits));
    gate.push_back(-gate.back());
  }
  const std::vector<float> up(gate.size(), 1.0f);
  for (const Activation activation : kActivations) Run(activation, gate, up, gate.size());
}

// Where the tails fall from normal to subnormal to zero, and around every threshold.
TEST_P(GatedActivationTest, FewUlpInTheTails) {
  TestRandom random;
  std::vector<float> gate;
  for (int i = 0; i < 400000; ++i) gate.push_back(static_cast<float>(random.Uniform(-200.0, 100.0)));
  for (int i = 0; i < 400000; ++i) gate.push_back(static_cast<float>(random.Uniform(-16.0, 16.0)));
  const std::vector<float> up(gate.size(), -1.5f);
  for (const Activation activation : kActivations) Run(activation, gate, up, gate.size());
}

TEST_P(GatedActivationTest, NonFiniteSurfaces) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Activation activation : kActivations) {
    for (const int64_t at : {0, 8, 16}) {
      std::vector<float> gate(17, 0.5f);
      std::vector<float> up(17, 1.0f);
      GuardedFloats y(17);
      const GatedActivationParams params{gate.data(), up.data(), y.data(), 17, 17, 17, 17, activation};
      gate[at] = std::nanf("");
      CpuGatedActivation(isa())(params, 0, 1);
      for (int64_t i = 0; i < 17; ++i) EXPECT_EQ(std::isnan(y.data()[i]), i == at) << i;
      for (const float infinity : {kInfinity, -kInfinity}) {
        gate[at] = infinity;
        CpuGatedActivation(isa())(params, 0, 1);
        for (int64_t i = 0; i < 17; ++i) EXPECT_EQ(!std::isfinite(y.data()[i]), i == at) << i;
      }
      gate[at] = 1.0f;
      up[at] = std::nanf("");
      CpuGatedActivation(isa())(params, 0, 1);
      EXPECT_TRUE(std::isnan(y.data()[at]));
    }
  }
}

TEST_P(GatedActivationTest, InPlaceStridedAndRowByRowGiveTheSameBits) {
  constexpr int64_t kRows = 4;
  constexpr int64_t kWidth = 21;
  constexpr int64_t kStride = 50;
  TestRandom random;
  for (const Activation activation : kActivations) {
    std::vector<float> both = random.Normals(kRows * kStride, 4.0f);  // gate and up of a row side by side
    GuardedFloats y(kRows * kWidth);
    GatedActivationParams params{both.data(), both.data() + 25, y.data(), kStride, kStride, kWidth, kWidth, activation};
    CpuGatedActivation(isa())(params, 0, kRows);
    EXPECT_TRUE(y.GuardsIntact());
    params.y = both.data();
    params.y_stride = kStride;
    for (int64_t row = 0; row < kRows; ++row) {
      CpuGatedActivation(isa())(params, row, row + 1);
      CheckSameBits("row", std::span(both).subspan(row * kStride, kWidth), y.span().subspan(row * kWidth, kWidth));
    }
  }
}

CANDOR_KERNEL_TEST(GatedActivationTest);

}  // namespace
}  // namespace candor
