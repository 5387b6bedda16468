#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/check.h"
#include "base/clock.h"

namespace candor {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("half: expected an even number, got {}", value);
  return value / 2;
}

Result<int> Quarter(int value) {
  CANDOR_ASSIGN_OR_RETURN(const int half, Half(value));
  return Half(half);
}

Status CheckQuarter(int value) {
  CANDOR_RETURN_IF_ERROR(Quarter(value).status());
  return OkStatus();
}

TEST(Status, PassesValuesAndErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  const auto failed = Quarter(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(failed.status().message(), "half: expected an even number, got 3");
  EXPECT_TRUE(CheckQuarter(4).ok());
  EXPECT_FALSE(CheckQuarter(5).ok());
}

TEST(Status, Context) {
  EXPECT_EQ(DataLossError("cut").WithContext("file").message(), "file: cut");
  EXPECT_EQ(DataLossError("cut").WithContext("file").code(), StatusCode::kDataLoss);
  EXPECT_TRUE(OkStatus().WithContext("file").ok());
  EXPECT_STREQ(StatusCodeName(StatusCode::kResourceExhausted), "ResourceExhausted");
}

TEST(Status, ResultHoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 3);
}

#ifdef NDEBUG
TEST(Check, ThrowsWithPlaceAndMessage) {
  try {
    CANDOR_CHECK(1 + 1 == 3, "op rope");
    FAIL() << "no exception";
  } catch (const CheckFailure& error) {
    EXPECT_NE(std::string(error.what()).find("1 + 1 == 3: op rope"), std::string::npos) << error.what();
  }
}
#endif

TEST(PhaseTimer, AddsUpInOrderOfFirstUse) {
  PhaseTimer timer;
  timer.Add("open", 1.0);
  timer.Add("weights", 2.0);
  timer.Add("open", 0.5);
  { const ScopedPhase phase(&timer, "compile"); }
  { const ScopedPhase nobody(nullptr, "compile"); }
  ASSERT_EQ(timer.phases().size(), 3u);
  EXPECT_EQ(timer.phases()[0], (std::pair<std::string, double>("open", 1.5)));
  EXPECT_EQ(timer.phases()[2].first, "compile");
  EXPECT_GE(timer.phases()[2].second, 0.0);
}

}  // namespace
}  // namespace candor
