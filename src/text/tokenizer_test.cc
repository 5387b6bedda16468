// The rules of both tokenizers on vocabularies small enough to work out by hand, and what is wrong with a broken one.
#include "text/tokenizer.h"

#include "text/special_tokens.h"
#include "text/testing.h"

namespace candor {
namespace {

using text_testing::BpeFile;
using text_testing::MetadataFile;
using text_testing::SpmFile;

constexpr int64_t kControlType = 3;
constexpr int64_t kUserType = 4;

std::unique_ptr<const Tokenizer> LoadOrFail(const MetadataFile& file) {
  auto loaded = Tokenizer::Load(file.Build());
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? std::move(*loaded) : nullptr;
}

// The texts of the tokens, joined by '|'.
std::string Pieces(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options) {
  const auto ids = tokenizer.Encode(text, options);
  EXPECT_TRUE(ids.ok()) << ids.status().message();
  std::string joined;
  for (const TokenId id : ids.ok() ? *ids : std::vector<TokenId>{}) {
    if (!joined.empty()) joined += '|';
    joined += tokenizer.TokenText(id);
  }
  return joined;
}

std::string Plain(const Tokenizer& tokenizer, std::string_view text) {
  return Pieces(tokenizer, text, {.add_special = false});
}
std::string Parsed(const Tokenizer& tokenizer, std::string_view text) {
  return Pieces(tokenizer, text, {.add_special = false, .parse_special = true});
}

TEST(BpeTokenizer, LowestRankMergesFirstAndLeftmostAmongEquals) {
  const auto tokenizer = LoadOrFail(BpeFile({"b c", "a b", "a a", "aa a"}, {}));
  EXPECT_EQ(Plain(*tokenizer, "abc"), "a|bc");  // "b c" ranks before "a b"
  EXPECT_EQ(Plain(*tokenizer, "abx"), "ab|x");
  EXPECT_EQ(Plain(*tokenizer, "aaaaa"), "aa|aaa");
  EXPECT_EQ(Plain(*tokenizer, ""), "");
}

TEST(BpeTokenizer, MergeNeedsItsOwnPairNotJustTheToken) {
  const auto tokenizer = LoadOrFail(BpeFile({"a b", "ab c", "d e", "c de"}, {}));
  EXPECT_EQ(Plain(*tokenizer, "abc"), "abc");
  EXPECT_EQ(Plain(*tokenizer, "cde"), "cde");
  EXPECT_EQ(Plain(*tokenizer, "abcde"), "abc|de");
}

TEST(BpeTokenizer, IgnoreMergesTakesTheWholeWord) {
  MetadataFile file = BpeFile({"a b", "b c", "x abc"}, {});
  EXPECT_EQ(Plain(*LoadOrFail(file), "xabc"), "x|ab|c");
  file.Set("tokenizer.ggml.pre", std::string("llama-bpe"));
  EXPECT_EQ(Plain(*LoadOrFail(file), "xabc"), "xabc");
}

TEST(BpeTokenizer, EveryInvalidByteIsAReplacementCharacter) {
  const auto tokenizer = LoadOrFail(BpeFile({}, {}));
  for (const std::string text :
       {"\xFF", "a\x80z", "\xE2\x82", "\xF0\x9F\x98", "\xED\xA0\x80", "\xC0\x80", "\xF8\x88\x80\x80"}) {
    const auto ids = tokenizer->Encode(text, {.add_special = false});
    ASSERT_TRUE(ids.ok());
    std::string expected;
    for (const char c : text) expected += static_cast<uint8_t>(c) < 0x80 ? std::string(1, c) : "\xEF\xBF\xBD";
    EXPECT_EQ(tokenizer->Decode(*ids, false), expected);
  }
}

TEST(BpeTokenizer, AllBytesComeBack) {
  const auto tokenizer = LoadOrFail(BpeFile({"Ġ a", "Ġa b"}, {}));
  std::string text;
  for (int c = 0; c < 128; ++c) text.push_back(static_cast<char>(c));
  text += " ab é 中 😀";
  const auto ids = tokenizer->Encode(text, {.add_special = false});
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(tokenizer->Decode(*ids, false), text);
}

TEST(SpmTokenizer, HighestScoreMergesFirst) {
  const auto tokenizer = LoadOrFail(SpmFile({"▁", "a", "b", "c", "bc", "ab", "▁a", "abc"}, {}));
  EXPECT_EQ(Plain(*tokenizer, "abc"), "▁a|bc");  // the space in front is the tokenizer's own
  EXPECT_EQ(Plain(*tokenizer, "xab"), "▁|<0x78>|ab");
  EXPECT_EQ(Plain(*tokenizer, "é"), "▁|<0xC3>|<0xA9>");
}

TEST(SpmTokenizer, SpacePrefixFollowsTheFile) {
  MetadataFile file = SpmFile({"▁", "a", "▁a", "a▁"}, {{"<x>", kControlType}});
  EXPECT_EQ(Plain(*LoadOrFail(file), "a a"), "▁a|▁a");
  EXPECT_EQ(Parsed(*LoadOrFail(file), "<x>a"), "<x>|▁a");
  file.Set("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(Plain(*LoadOrFail(file), "a"), "a");
  const auto tokenizer = LoadOrFail(file);
  const auto ids = tokenizer->Encode(" a", {.add_special = false});
  EXPECT_EQ(tokenizer->Decode(*ids, false), " a");
}

TEST(SpmTokenizer, TextNeverBecomesAControlOrByteToken) {
  // Every piece of "<x>" and "<0x41>" merges, up to the special tokens' own texts.
  const auto tokenizer =
      LoadOrFail(SpmFile({"<", "x", ">", "<x", "0", "4", "1", "<0", "<0x", "<0x4", "<0x41"}, {{"<x>", kControlType}}));
  EXPECT_EQ(Plain(*tokenizer, "<x>"), "<0xE2>|<0x96>|<0x81>|<x|>");
  EXPECT_EQ(Plain(*tokenizer, "<0x41>"), "<0xE2>|<0x96>|<0x81>|<0x41|>");
  EXPECT_EQ(Parsed(*tokenizer, "<x>"), "<x>");
}

TEST(SpmTokenizer, WithoutByteTokensTheUnknownTokenStandsIn) {
  MetadataFile file;
  file.Set("tokenizer.ggml.model", std::string("llama"))
      .Set("tokenizer.ggml.token_type", std::vector<int64_t>{2, 1, 1});
  file.Set("tokenizer.ggml.scores", std::vector<float>{0, -1, -2}).Set("tokenizer.ggml.add_bos_token", false);
  file.SetStrings("tokenizer.ggml.tokens", {"<unk>", "▁", "a"});
  EXPECT_EQ(Plain(*LoadOrFail(file), "a中a"), "▁|a|<unk>|a");
}

TEST(SpecialTokens, LongestIsCutOutFirstEverywhere) {
  const auto tokenizer =
      LoadOrFail(BpeFile({}, {{"<ab>", kUserType}, {"b><c", kUserType}, {"<c>d<c>", kUserType}, {"<c>", kUserType}}));
  EXPECT_EQ(Plain(*tokenizer, "<ab><c>d<c>"), "<ab>|<c>d<c>");
  EXPECT_EQ(Plain(*tokenizer, "<ab><c>"),
            "<ab>|<c>");  // equal lengths do not overlap here: "<ab>" comes first from the left
  EXPECT_EQ(Plain(*tokenizer, "<c><c>d<c><c>"), "<c>|<c>d<c>|<c>");
}

TEST(SpecialTokens, ControlTokensNeedParsing) {
  const auto tokenizer = LoadOrFail(BpeFile({}, {{"<|x|>", kControlType}, {"<think>", kUserType}, {"\t", kUserType}}));
  EXPECT_EQ(Parsed(*tokenizer, "a<|x|>b<think>"), "a|<|x|>|b|<think>");
  EXPECT_EQ(Plain(*tokenizer, "<|x|><think>\t"), "<|||x|||>|<think>|\t");
  EXPECT_EQ(Parsed(*tokenizer, "<|x|"), "<|||x||");
}

TEST(SpecialTokens, OneSegmentOfMarkupHoldsTheWholeControlToken) {
  const auto tokenizer = LoadOrFail(BpeFile({"h i", "Ċ h"}, {{"<|x|>", kControlType}}));
  const auto pieces = [&](const std::vector<TextSegment>& segments) {
    const auto ids = tokenizer->EncodeSegments(segments, false);
    std::string joined;
    for (const TokenId id : *ids) joined.append(joined.empty() ? "" : "|").append(tokenizer->TokenText(id));
    return joined;
  };
  EXPECT_EQ(pieces({{"<|x|>", true}, {"<|x|>", false}}), "<|x|>|<|||x|||>");
  EXPECT_EQ(pieces({{"<|x", true}, {"|>", false}}), "<|||x|||>");
  EXPECT_EQ(pieces({{"<|x", true}, {"|>", true}}), "<|x|>");
  EXPECT_EQ(pieces({{"", false}, {"<|x|>h", true}, {"i", false}}), "<|x|>|hi");  // words merge across segments
  EXPECT_EQ(pieces({}), "");
}

TEST(Tokenizer, BosAndEosFollowTheFile) {
  MetadataFile bpe = BpeFile({}, {{"<s>", kControlType}, {"</s>", kControlType}});
  bpe.Set("tokenizer.ggml.bos_token_id", uint64_t{256}).Set("tokenizer.ggml.eos_token_id", uint64_t{257});
  EXPECT_EQ(Pieces(*LoadOrFail(bpe), "a", {}), "a");  // key absent: none for BPE
  bpe.Set("tokenizer.ggml.add_bos_token", true).Set("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = LoadOrFail(bpe);
  EXPECT_EQ(Pieces(*tokenizer, "a", {}), "<s>|a|</s>");
  EXPECT_EQ(Plain(*tokenizer, "a"), "a");
  EXPECT_EQ(Pieces(*tokenizer, "", {}), "<s>|</s>");
  const std::vector<TextSegment> with_bos = {{"<s>", true}, {"a", false}};
  const TokenId a = tokenizer->Encode("a", {.add_special = false, .parse_special = false}).value()[0];
  EXPECT_EQ(*tokenizer->EncodeSegments(with_bos, true), (std::vector<TokenId>{256, a, 257}));  // not twice

  MetadataFile spm = SpmFile({"▁", "a"}, {});
  EXPECT_EQ(Pieces(*LoadOrFail(spm), "a", {}), "<s>|▁|a");  // key absent: BOS for SPM
  spm.Set("tokenizer.ggml.add_bos_token", false);
  EXPECT_EQ(Pieces(*LoadOrFail(spm), "a", {}), "▁|a");

  MetadataFile llama3 = BpeFile({}, {{"<|begin_of_text|>", kControlType}});
  llama3.Set("tokenizer.ggml.bos_token_id", uint64_t{256}).Set("tokenizer.ggml.pre", std::string("llama-bpe"));
  EXPECT_EQ(Pieces(*LoadOrFail(llama3), "a", {}), "<|begin_of_text|>|a");
}

TEST(Tokenizer, EndOfGenerationNeedsAnIdOrASpecialToken) {
  MetadataFile file =
      BpeFile({}, {{"<|im_end|>", kControlType}, {"</s>", 1}, {"<|eot_id|>", kUserType}, {"stop", kControlType}});
  file.Set("tokenizer.ggml.eos_token_id", uint64_t{259});
  const auto tokenizer = LoadOrFail(file);
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(256));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(257));  // "</s>" is an ordinary token here
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(258));
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(259));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(-1));
  EXPECT_EQ(tokenizer->eos(), 259);
  EXPECT_EQ(tokenizer->bos(), -1);
  EXPECT_EQ(tokenizer->vocabulary_size(), 260);
}

struct Broken {
  const char* name;
  MetadataFile file;
  StatusCode code;
  const char* part;
};

TEST(Tokenizer, BrokenVocabulariesAreNamed) {
  const MetadataFile bpe = BpeFile({"a b"}, {{"<s>", kControlType}});
  const MetadataFile spm = SpmFile({"a"}, {});
  const auto with = [](MetadataFile file, const char* key, MetadataValue value) {
    return file.Set(key, std::move(value));
  };
  const auto without = [](MetadataFile file, const char* key) { return file.Remove(key); };
  const auto strings = [](MetadataFile file, const char* key, std::vector<std::string> v) {
    return file.SetStrings(key, std::move(v));
  };
  const Broken cases[] = {
      {"no model", without(bpe, "tokenizer.ggml.model"), StatusCode::kNotFound, "tokenizer.ggml.model"},
      {"unknown model", with(bpe, "tokenizer.ggml.model", std::string("rwkv")), StatusCode::kUnimplemented, "'rwkv'"},
      {"mistyped model", with(bpe, "tokenizer.ggml.model", uint64_t{1}), StatusCode::kInvalidArgument,
       "tokenizer.ggml.model"},
      {"no pre", without(bpe, "tokenizer.ggml.pre"), StatusCode::kNotFound, "tokenizer.ggml.pre"},
      {"unknown pre", with(bpe, "tokenizer.ggml.pre", std::string("nope")), StatusCode::kUnimplemented, "'nope'"},
      {"no tokens", without(bpe, "tokenizer.ggml.tokens"), StatusCode::kNotFound, "tokenizer.ggml.tokens"},
      {"empty tokens", strings(bpe, "tokenizer.ggml.tokens", {}), StatusCode::kInvalidArgument,
       "tokenizer.ggml.tokens"},
      {"no merges", without(bpe, "tokenizer.ggml.merges"), StatusCode::kNotFound, "tokenizer.ggml.merges"},
      {"merge of one part", strings(bpe, "tokenizer.ggml.merges", {"ab"}), StatusCode::kInvalidArgument, "'ab'"},
      {"merge of no part", strings(bpe, "tokenizer.ggml.merges", {""}), StatusCode::kInvalidArgument,
       "tokenizer.ggml.merges"},
      {"few types", with(bpe, "tokenizer.ggml.token_type", std::vector<int64_t>{1}), StatusCode::kInvalidArgument,
       "token_type"},
      {"wrong type", with(bpe, "tokenizer.ggml.token_type", std::vector<int64_t>(400, 9)), StatusCode::kInvalidArgument,
       "got 9"},
      {"bos out of range", with(bpe, "tokenizer.ggml.bos_token_id", uint64_t{9999}), StatusCode::kInvalidArgument,
       "got 9999"},
      {"add_bos without bos", with(bpe, "tokenizer.ggml.add_bos_token", true), StatusCode::kInvalidArgument,
       "bos_token_id"},
      {"add_bos mistyped", with(bpe, "tokenizer.ggml.add_bos_token", std::string("x")), StatusCode::kInvalidArgument,
       "add_bos_token"},
      {"no scores", without(spm, "tokenizer.ggml.scores"), StatusCode::kNotFound, "tokenizer.ggml.scores"},
      {"few scores", with(spm, "tokenizer.ggml.scores", std::vector<float>{0}), StatusCode::kInvalidArgument,
       "tokenizer.ggml.scores"},
  };
  for (const Broken& broken : cases) {
    const auto loaded = Tokenizer::Load(broken.file.Build());
    ASSERT_FALSE(loaded.ok()) << broken.name;
    EXPECT_EQ(loaded.status().code(), broken.code) << broken.name << ": " << loaded.status().message();
    EXPECT_NE(loaded.status().message().find(broken.part), std::string::npos)
        << broken.name << ": " << loaded.status().message();
  }
}

TEST(Tokenizer, OddVocabulariesLoad) {
  MetadataFile spm = SpmFile({"a", "a", ""}, {{"", kControlType}});  // duplicated and empty texts
  spm.Set("tokenizer.ggml.pre", std::string("nonsense"));            // ignored for SPM
  EXPECT_EQ(Plain(*LoadOrFail(spm), "a"), "<0xE2>|<0x96>|<0x81>|a");
}

}  // namespace
}  // namespace candor
