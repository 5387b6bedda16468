#include "kernels/rope/rope.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernels/lib/kernel_test.h"

namespace candor {
namespace {

std::vector<double> InverseFrequencies(int32_t n_rot, double base) {
  std::vector<double> result;
  for (int32_t i = 0; i < n_rot / 2; ++i) result.push_back(std::pow(base, -2.0 * i / n_rot));
  return result;
}

class RopeTest : public KernelTest {
 protected:
  struct Case {
    RopePairing pairing = RopePairing::kHalf;
    int32_t head_dim = 64;
    int32_t n_rot = 64;
    int32_t heads = 3;
    float magnitude = 1.0f;
    double base = 10000.0;
  };

  std::vector<float> Table(const std::vector<int32_t>& positions, const std::vector<double>& inverse_frequency,
                           float magnitude) const {
    const int32_t n_rot = static_cast<int32_t>(2 * inverse_frequency.size());
    GuardedFloats table(positions.size() * n_rot);
    const int32_t* position = positions.data();
    CpuRope(isa()).table({&position, inverse_frequency.data(), magnitude, n_rot, table.data()}, 0, positions.size());
    EXPECT_TRUE(table.GuardsIntact());
    return {table.span().begin(), table.span().end()};
  }

  // A cosine or sine is rounded once, the two products and their sum once each (fused or not): 2.5 roundoffs of |a| +
  // |b| cover it.
  void Run(const Case& c) const {
    const std::vector<int32_t> positions = {0, 1, 2, 63, 1000, 4095, 131071, 1000000};
    const std::vector<double> inverse_frequency = InverseFrequencies(c.n_rot, c.base);
    const int64_t stride = c.heads * c.head_dim + 5;
    const int64_t rows = positions.size();
    TestRandom random;
    const std::vector<float> x = random.Normals(rows * stride);
    GuardedFloats y(rows * stride);
    std::copy(x.begin(), x.end(), y.data());
    std::vector<Expected> want(rows * stride);
    for (int64_t i = 0; i < rows * stride; ++i) want[i] = {x[i], 0.0};
    std::vector<double> head(c.head_dim);
    for (int64_t i = 0; i < rows * c.heads; ++i) {
      const int64_t begin = i / c.heads * stride + i % c.heads * c.head_dim;
      ReferenceRope(x.data() + begin, positions[i / c.heads], inverse_frequency.data(), c.magnitude, c.head_dim,
                    c.n_rot, c.pairing, head.data());
      for (int32_t j = 0; j < c.n_rot; ++j) {
        const int32_t half = c.n_rot / 2;
        const int32_t other = c.pairing == RopePairing::kAdjacent ? j ^ 1 : (j + half) % c.n_rot;
        const double norm = std::abs(x[begin + j]) + std::abs(x[begin + other]);
        want[begin + j] = {head[j], 2.5 * kRoundoff * c.magnitude * norm};
      }
    }
    const std::vector<float> table = Table(positions, inverse_frequency, c.magnitude);
    CpuRope(isa()).rotate({y.data(), stride, c.heads, c.head_dim, c.n_rot, c.pairing, table.data()}, 0, rows);
    Check(fmt::format("rope {} of {}, {} heads", c.n_rot, c.head_dim, c.heads), y, want);
  }
};

TEST_P(RopeTest, BothPairingsAwkwardWidths) {
  for (const RopePairing pairing : {RopePairing::kHalf, RopePairing::kAdjacent}) {
    for (const int32_t n : {2, 6, 14, 16, 18, 30, 32, 34, 64, 80, 96, 128, 256}) {
      Run({.pairing = pairing, .head_dim = n, .n_rot = n});
      Run({.pairing = pairing, .head_dim = n + 7, .n_rot = n, .heads = 2});
    }
  }
}

TEST_P(RopeTest, MagnitudeAndBase) {
  Run({.magnitude = 1.25f});
  Run({.pairing = RopePairing::kAdjacent, .base = 1e6});
}

TEST_P(RopeTest, TableDependsOnThePositionAlone) {
  const std::vector<double> inverse_frequency = InverseFrequencies(32, 10000.0);
  const std::vector<float> together = Table({5, 6, 7}, inverse_frequency, 1.0f);
  const std::vector<float> alone = Table({6}, inverse_frequency, 1.0f);
  CheckSameBits("position 6", alone, std::span(together).subspan(32, 32));
}

TEST_P(RopeTest, RotatesOnlyTheRowsAskedFor) {
  const std::vector<float> table = Table({1, 2, 3}, InverseFrequencies(4, 100.0), 1.0f);
  std::vector<float> x(12, 1.0f);
  CpuRope(isa()).rotate({x.data(), 4, 1, 4, 4, RopePairing::kHalf, table.data()}, 1, 2);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(x[i] == 1.0f, i < 4 || i >= 8) << i;
}

TEST_P(RopeTest, NanSurfacesInItsPair) {
  for (const RopePairing pairing : {RopePairing::kHalf, RopePairing::kAdjacent}) {
    const std::vector<float> table = Table({3}, InverseFrequencies(18, 100.0), 1.0f);
    std::vector<float> x(18, 1.0f);
    x[16] = std::nanf("");
    CpuRope(isa()).rotate({x.data(), 18, 1, 18, 18, pairing, table.data()}, 0, 1);
    const int partner = pairing == RopePairing::kHalf ? 7 : 17;
    for (int i = 0; i < 18; ++i) EXPECT_EQ(std::isnan(x[i]), i == 16 || i == partner) << i;
  }
}

CANDOR_KERNEL_TEST(RopeTest);

}  // namespace
}  // namespace candor
