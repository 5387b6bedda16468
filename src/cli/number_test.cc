#include "cli/number.h"

#include <gtest/gtest.h>

#include <limits>

#include "cli/sampling_flags.h"
#include "cli/token_ids.h"

namespace candor::cli {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr double kHuge = std::numeric_limits<double>::max();

TEST(NumberTest, IntegersAreWholeDecimalWords) {
  EXPECT_EQ(*ParseInteger("0", 0, 10), 0);
  EXPECT_EQ(*ParseInteger("010", 0, 10), 10);
  EXPECT_EQ(*ParseInteger("-1", -1, kNoLimit), -1);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x10", "1e3", "x", "11", "-1", "99999999999999999999"}) {
    EXPECT_FALSE(ParseInteger(text, 0, 10).ok()) << text;
  }
  EXPECT_EQ(ParseInteger("-2", -1, kNoLimit).status().message(), "expected a whole number of at least -1, got '-2'");
  EXPECT_EQ(ParseInteger("x", 1, 8).status().message(), "expected a whole number from 1 to 8, got 'x'");
}

TEST(NumberTest, NumbersAreFiniteAndInRange) {
  EXPECT_EQ(*ParseNumber("0.5", 0, 1), 0.5);
  EXPECT_EQ(*ParseNumber("1e-3", 0, 1), 1e-3);
  for (const char* text : {"nan", "-nan", "inf", "-inf", "infinity", "1e999", "", "0,5", "1.5x", "-0.1", "1.1"}) {
    EXPECT_FALSE(ParseNumber(text, 0, 1).ok()) << text;
  }
  EXPECT_EQ(ParseNumber("nan", 0, kHuge).status().message(), "expected a number of at least 0, got 'nan'");
  EXPECT_EQ(ParseNumber("nan", -kHuge, kHuge).status().message(), "expected a number that is finite, got 'nan'");
}

TEST(NumberTest, ListsHaveNoGaps) {
  EXPECT_EQ(*ParseIntegerList("1,2,3", 0, 10), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(*ParseIntegerList(" 1 , 2\n", 0, 10), (std::vector<int64_t>{1, 2}));
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1 2", "1;2", "-1"})
    EXPECT_FALSE(ParseIntegerList(text, 0, 10).ok()) << text;
}

TEST(NumberTest, TokenIdsAreCheckedAgainstTheVocabulary) {
  std::vector<TokenId> ids;
  EXPECT_TRUE(ParseTokenIds("5,1023", ids).ok());
  EXPECT_TRUE(CheckTokenIds(ids, 1024).ok());
  const Outcome outcome = CheckTokenIds(ids, 1023);
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_EQ(outcome.message, "--ids: expected token ids from 0 to 1022, got 1023; list them with candor tokenize");
  EXPECT_EQ(ParseTokenIds("-1", ids).code, ExitCode::kUsage);
  EXPECT_EQ(ParseTokenIds("2147483648", ids).code, ExitCode::kUsage);
  EXPECT_EQ(CheckPromptFits(9, 8).code, ExitCode::kFailed);
  EXPECT_TRUE(CheckPromptFits(8, 8).ok());
}

TEST(NumberTest, LogitBiasIsIdEqualsValue) {
  EXPECT_EQ(*ParseLogitBias("7=-1.5"), (std::pair<TokenId, float>{7, -1.5f}));
  EXPECT_EQ(ParseLogitBias("7=-inf")->second, -std::numeric_limits<float>::infinity());
  for (const char* text : {"7", "=1", "7=", "-7=1", "7=inf", "7=nan", "a=1"})
    EXPECT_FALSE(ParseLogitBias(text).ok()) << text;
}

TEST(ExitCodeTest, StatusesMeanTheCodesOfTheHelp) {
  EXPECT_EQ(RunFailure(ResourceExhaustedError("x")).code, ExitCode::kMemory);
  EXPECT_EQ(RunFailure(CancelledError("x")).code, ExitCode::kCancelled);
  EXPECT_EQ(RunFailure(DeadlineExceededError("x")).code, ExitCode::kDeadline);
  EXPECT_EQ(RunFailure(InternalError("x")).code, ExitCode::kInternal);
  EXPECT_EQ(RunFailure(DataLossError("x")).code, ExitCode::kModelFile);
  EXPECT_EQ(RunFailure(FailedPreconditionError("x")).code, ExitCode::kFailed);
  EXPECT_EQ(RunFailure(InvalidArgumentError("x")).code, ExitCode::kUsage);
  EXPECT_EQ(LoadFailure(InvalidArgumentError("x")).code, ExitCode::kModelFile);
  EXPECT_EQ(LoadFailure(NotFoundError("x")).code, ExitCode::kModelFile);
  EXPECT_EQ(LoadFailure(PermissionDeniedError("x")).code, ExitCode::kModelFile);
  EXPECT_EQ(LoadFailure(UnavailableError("x")).code, ExitCode::kDevice);
  EXPECT_EQ(LoadFailure(ResourceExhaustedError("x")).code, ExitCode::kMemory);
}

}  // namespace
}  // namespace candor::cli
