#include "base/checked_math.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(CheckedMath, SumsAndProducts) {
  EXPECT_EQ(CheckedAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedMul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), kMax - (uint64_t{1} << 32) + 1);
  EXPECT_EQ(CheckedMul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(CheckedMul(kMax, 0), 0u);
}

TEST(CheckedMath, AlignUp) {
  EXPECT_EQ(CheckedAlignUp(0, 32), 0u);
  EXPECT_EQ(CheckedAlignUp(33, 32), 64u);
  EXPECT_EQ(CheckedAlignUp(64, 32), 64u);
  EXPECT_EQ(CheckedAlignUp(kMax - 3, 32), std::nullopt);
  EXPECT_TRUE(IsPowerOfTwo(1));
  EXPECT_FALSE(IsPowerOfTwo(0));
  EXPECT_FALSE(IsPowerOfTwo(24));
}

TEST(CheckedMath, RangeFits) {
  EXPECT_TRUE(RangeFits(10, 0, 10));
  EXPECT_TRUE(RangeFits(4, 6, 10));
  EXPECT_FALSE(RangeFits(4, 7, 10));
  EXPECT_FALSE(RangeFits(11, 0, 10));
  EXPECT_FALSE(RangeFits(kMax, 2, 10));
  EXPECT_FALSE(RangeFits(5, kMax - 2, 10));
}

}  // namespace
}  // namespace candor
