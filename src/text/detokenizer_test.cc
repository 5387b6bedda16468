#include "text/detokenizer.h"

#include "text/testing.h"
#include "text/utf8.h"

namespace candor {
namespace {

using text_testing::SpmFile;

class DetokenizerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = Tokenizer::Load(SpmFile({"▁Hi", "▁there", "é"}, {{"<x>", 3}, {"<u>", 4}}).Build());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    tokenizer_ = std::move(*loaded);
  }
  static TokenId Byte(int value) { return 3 + value; }
  static constexpr TokenId kHi = 259, kThere = 260, kAcute = 261, kControl = 262, kUser = 263;
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_F(DetokenizerTest, NeverHalfACharacter) {
  const std::string emoji = "😀";
  Detokenizer detokenizer(*tokenizer_);
  for (size_t i = 0; i < emoji.size(); ++i) {
    EXPECT_EQ(detokenizer.Push(Byte(static_cast<uint8_t>(emoji[i]))), i + 1 < emoji.size() ? "" : emoji);
  }
  EXPECT_EQ(detokenizer.Flush(), "");
}

TEST_F(DetokenizerTest, InvalidBytesAreReplacedAndTheRestComesThrough) {
  Detokenizer detokenizer(*tokenizer_);
  EXPECT_EQ(detokenizer.Push(Byte(0xF0)), "");
  EXPECT_EQ(detokenizer.Push(Byte(0x9F)), "");
  EXPECT_EQ(detokenizer.Push(Byte('a')),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(detokenizer.Push(Byte(0xFF)), "\xEF\xBF\xBD");
  EXPECT_EQ(detokenizer.Push(Byte(0xC3)), "");
  EXPECT_EQ(detokenizer.Flush(), "\xEF\xBF\xBD");
  EXPECT_EQ(detokenizer.Flush(), "");
}

TEST_F(DetokenizerTest, FirstSpaceIsTheTokenizersOwn) {
  Detokenizer detokenizer(*tokenizer_);
  EXPECT_EQ(detokenizer.Push(kHi), "Hi");
  EXPECT_EQ(detokenizer.Push(kThere), " there");
  const std::vector<TokenId> ids = {kHi, kThere};
  EXPECT_EQ(tokenizer_->Decode(ids, false), "Hi there");
}

TEST_F(DetokenizerTest, ControlTokensAreShownOnlyWhenAsked) {
  const std::vector<TokenId> ids = {kControl, kHi, kUser, kControl, kAcute};
  EXPECT_EQ(tokenizer_->Decode(ids, false), "Hi<u>é");
  EXPECT_EQ(tokenizer_->Decode(ids, true), "<x> Hi<u><x>é");
}

TEST_F(DetokenizerTest, UnknownIdsAreNothing) {
  Detokenizer detokenizer(*tokenizer_);
  for (const TokenId id : {-1, -2147483647, 264, 2147483647}) EXPECT_EQ(detokenizer.Push(id), "");
}

TEST(Utf8, WellFormedAndNot) {
  for (const std::string text : {"", "a", "é", "中", "😀", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"})
    EXPECT_TRUE(IsUtf8(text));
  for (const std::string text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                                 "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE4\xB8", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(IsUtf8(text)) << testing::PrintToString(text);
  }
  EXPECT_EQ(ReplaceInvalidUtf8("a\xE2\x82z", ReplaceUnit::kPart), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ReplaceInvalidUtf8("a\xE2\x82z", ReplaceUnit::kByte), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace candor
