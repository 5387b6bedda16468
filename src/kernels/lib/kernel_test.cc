#include "kernels/lib/kernel_test.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace candor {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr std::byte kGuard{0xa5};

// The flag itself: UnitTest::random_seed() takes the time of day where the flag is absent, and a run should not depend
// on that.
uint64_t Seed() { return static_cast<uint64_t>(GTEST_FLAG_GET(random_seed)); }

}  // namespace

double SumRoundoff(int64_t terms) { return 4.0 * std::sqrt(static_cast<double>(terms)) * kRoundoff; }

TestRandom::TestRandom(uint64_t stream) : state_(Seed() * 0x9e3779b97f4a7c15u + stream * 0xd1342543de82ef95u + 1) {}

// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (SplitMix64).
uint64_t TestRandom::Bits() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double TestRandom::Uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(Bits() >> 11) * 0x1p-53;
}

float TestRandom::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform(0.0, 1.0)));
  return static_cast<float>(radius * std::cos(Uniform(0.0, 2.0 * M_PI)));
}

std::vector<float> TestRandom::Normals(size_t count, float scale) {
  std::vector<float> values(count);
  for (float& value : values) value = scale * Normal();
  return values;
}

GuardedFloats::GuardedFloats(size_t count)
    : bytes_(count * sizeof(float) + 2 * kGuardBytes + 64, kGuard), count_(count) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(bytes_.data()) + kGuardBytes;
  begin_ = kGuardBytes + (64 - first % 64) % 64;
  Poison();
}

void GuardedFloats::Poison() {
  for (float& value : span()) value = std::numeric_limits<float>::quiet_NaN();
}

bool GuardedFloats::GuardsIntact() const {
  const size_t end = begin_ + count_ * sizeof(float);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if ((i < begin_ || i >= end) && bytes_[i] != kGuard) return false;
  }
  return true;
}

void KernelTest::SetUp() {
  if (!CpuSupports(isa())) GTEST_SKIP() << "NOT RUN: this machine has no " << CpuIsaName(isa());
}

std::string ReproLineOf(std::string_view program) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("{} --gtest_filter={}.{} --gtest_random_seed={}", program, test->test_suite_name(), test->name(),
                     Seed());
}

std::string KernelTest::ReproLine() { return ReproLineOf("candor_kernels_tests"); }

void KernelTest::Check(std::string_view what, const GuardedFloats& got, std::span<const Expected> want) const {
  EXPECT_TRUE(got.GuardsIntact()) << what << ": wrote outside its output\n" << ReproLine();
  CheckValues(what, got.span(), want, ReproLine());
}

void CheckValues(std::string_view what, std::span<const float> values, std::span<const Expected> want,
                 const std::string& repro_line) {
  ASSERT_EQ(values.size(), want.size()) << what;
  size_t worst = 0;
  double worst_excess = 0.0;  // error in tolerances
  for (size_t i = 0; i < want.size(); ++i) {
    const double value = values[i];
    const double expected = want[i].value;
    if (value == expected || (std::isnan(value) && std::isnan(expected))) continue;
    double excess = std::abs(value - expected) / want[i].tolerance;
    if (std::isnan(excess) || std::isinf(value) || std::isinf(expected))
      excess = std::numeric_limits<double>::infinity();
    if (excess > worst_excess) {
      worst_excess = excess;
      worst = i;
    }
  }
  EXPECT_LE(worst_excess, 1.0) << fmt::format("{}: index {}: expected {:.9g} +- {:.3g}, got {:.9g}\n{}", what, worst,
                                              want[worst].value, want[worst].tolerance, values[worst], repro_line);
}

void KernelTest::CheckSameBits(std::string_view what, std::span<const float> got, std::span<const float> want) const {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::bit_cast<uint32_t>(got[i]) == std::bit_cast<uint32_t>(want[i]) ||
        (std::isnan(got[i]) && std::isnan(want[i])))
      continue;
    ADD_FAILURE() << fmt::format("{}: index {}: expected the bits of {:.9g}, got {:.9g}\n{}", what, i, want[i], got[i],
                                 ReproLine());
    return;
  }
}

std::string IsaTestName(const testing::TestParamInfo<CpuIsa>& info) { return std::string(CpuIsaName(info.param)); }

}  // namespace candor
