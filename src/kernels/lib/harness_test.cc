// The harness itself: it sees what it is for.
#include "kernels/lib/kernel_test.h"

#include <gtest/gtest-spi.h>

#include <cmath>

namespace candor {
namespace {

class HarnessTest : public KernelTest {};

TEST_P(HarnessTest, SeesValueBeyondTolerance) {
  GuardedFloats got(3);
  got.data()[0] = 1.0f;
  got.data()[1] = 2.5f;
  got.data()[2] = 3.0f;
  const std::vector<Expected> want = {{1.0, 0.0}, {2.0, 0.4}, {3.0, 0.0}};
  EXPECT_NONFATAL_FAILURE(Check("three", got, want), "index 1: expected 2 +- 0.4, got 2.5");
  got.data()[1] = 2.25f;
  Check("three", got, want);
}

TEST_P(HarnessTest, SeesOutputLeftUnwritten) {
  GuardedFloats got(2);
  got.data()[0] = 1.0f;
  const std::vector<Expected> want = {{1.0, 1.0}, {2.0, 1e30}};
  EXPECT_NONFATAL_FAILURE(Check("two", got, want), "index 1");
}

TEST_P(HarnessTest, SeesWriteBeyondTheEnd) {
  GuardedFloats got(1);
  got.data()[0] = 1.0f;
  got.data()[1] = 1.0f;
  const std::vector<Expected> want = {{1.0, 0.0}};
  EXPECT_NONFATAL_FAILURE(Check("one", got, want), "wrote outside its output");
}

TEST_P(HarnessTest, SeesOneBitOfDifference) {
  const std::vector<float> want = {1.0f, 2.0f};
  const std::vector<float> got = {1.0f, std::nextafter(2.0f, 3.0f)};
  EXPECT_NONFATAL_FAILURE(CheckSameBits("two", got, want), "index 1");
}

TEST_P(HarnessTest, ReproLineNamesTestAndSeed) {
  EXPECT_NE(ReproLine().find("--gtest_filter=Cpu/HarnessTest.ReproLineNamesTestAndSeed/"), std::string::npos);
  EXPECT_NE(ReproLine().find("--gtest_random_seed="), std::string::npos);
}

CANDOR_KERNEL_TEST(HarnessTest);

}  // namespace
}  // namespace candor
