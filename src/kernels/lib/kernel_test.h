// The test harness of every CPU kernel. A test derives from KernelTest, is instantiated once per ISA by
// CANDOR_KERNEL_TEST, and gives one line per case; an ISA that this machine lacks is skipped with "NOT RUN", never
// counted as passed. Outputs stand in guarded buffers that are full of NaN before the kernel runs; each expected value
// comes with the tolerance computed for it. A failure prints the worst index, both values and the line that repeats it.
// The seed is --gtest_random_seed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/cpu_features.h"

namespace candor {

// Unit roundoff of float: a correctly rounded operation errs by at most this, relatively.
inline constexpr double kRoundoff = 0x1p-24;

// Worst-case growth over n additions is n roundoffs; rounding errors being as good as independent, 4 sqrt(n) holds with
// overwhelming probability (Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis", 2019).
double SumRoundoff(int64_t terms);

// Reproducible numbers from the test's seed. The same on every platform.
class TestRandom {
 public:
  explicit TestRandom(uint64_t stream = 0);
  uint64_t Bits();
  double Uniform(double low, double high);
  float Normal();
  std::vector<float> Normals(size_t count, float scale = 1.0f);

 private:
  uint64_t state_;
};

// Memory with guard bytes on both sides, filled with NaN floats at first. 64-byte aligned.
class GuardedFloats {
 public:
  explicit GuardedFloats(size_t count);
  float* data() { return reinterpret_cast<float*>(bytes_.data() + begin_); }
  std::span<float> span() { return {data(), count_}; }
  std::span<const float> span() const { return {reinterpret_cast<const float*>(bytes_.data() + begin_), count_}; }
  void Poison();
  bool GuardsIntact() const;

 private:
  std::vector<std::byte> bytes_;
  size_t begin_;
  size_t count_;
};

// What a kernel must give for one output.
struct Expected {
  double value = 0.0;
  double tolerance = 0.0;
};

// Every value within its tolerance, NaN only where NaN is expected; a failure shows the worst index.
void CheckValues(std::string_view what, std::span<const float> values, std::span<const Expected> want,
                 const std::string& repro_line);
// "<program> --gtest_filter=… --gtest_random_seed=…": repeats the test in progress.
std::string ReproLineOf(std::string_view program);

class KernelTest : public testing::TestWithParam<CpuIsa> {
 protected:
  void SetUp() override;
  CpuIsa isa() const { return GetParam(); }

  // CheckValues, and guards intact.
  void Check(std::string_view what, const GuardedFloats& got, std::span<const Expected> want) const;
  // The same values, guards intact. NaNs are equal whatever their payload.
  void CheckSameBits(std::string_view what, std::span<const float> got, std::span<const float> want) const;
  static std::string ReproLine();
};

std::string IsaTestName(const testing::TestParamInfo<CpuIsa>& info);

#define CANDOR_KERNEL_TEST(Fixture) INSTANTIATE_TEST_SUITE_P(Cpu, Fixture, testing::ValuesIn(kAllCpuIsas), IsaTestName)

}  // namespace candor
