#include "cli/suggest.h"

#include <gtest/gtest.h>

namespace candor::cli {
namespace {

TEST(SuggestTest, EditDistanceCountsEditsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("rnu", "run"), 1u);
  EXPECT_EQ(EditDistance("bench", "bench"), 0u);
  EXPECT_EQ(EditDistance("becnh", "bench"), 1u);
}

TEST(SuggestTest, ClosestWordIsCloseOrNone) {
  const std::vector<std::string> words = {"run", "bench", "inspect", "tokenize", "logits", "perplexity", "devices"};
  EXPECT_EQ(ClosestWord("rum", words), "run");
  EXPECT_EQ(ClosestWord("tokenise", words), "tokenize");
  EXPECT_EQ(ClosestWord("perp", words), "perplexity");
  EXPECT_EQ(ClosestWord("device", words), "devices");
  EXPECT_EQ(ClosestWord("xyz", words), "");
  EXPECT_EQ(ClosestWord("", words), "");
  EXPECT_EQ(ClosestWord("--modle", {"--model", "--mode"}), "--model");
}

}  // namespace
}  // namespace candor::cli
