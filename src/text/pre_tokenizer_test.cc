#include "text/pre_tokenizer.h"

#include <chrono>
#include <set>

#include "text/rust_buffer.h"
#include "text/testing.h"

namespace candor {
namespace {

std::vector<std::string> Words(const PreTokenizer& pre_tokenizer, const std::string& text) {
  const auto ends = pre_tokenizer.Split(text);
  EXPECT_TRUE(ends.ok()) << ends.status().message();
  std::vector<std::string> words;
  size_t begin = 0;
  for (const uint32_t end : ends.ok() ? *ends : std::vector<uint32_t>{}) {
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, text.size());
  return words;
}

TEST(PreTokenizer, WordsMatchOniguruma) {
  const nlohmann::ordered_json golden = text_testing::ReadJson("tests/goldens/pre_tokenizers.json");
  ASSERT_GE(golden["rules"].size(), 16u);
  for (const nlohmann::ordered_json& rule : golden["rules"]) {
    const auto pre_tokenizer = PreTokenizer::ByName(rule["name"].get<std::string>());
    ASSERT_TRUE(pre_tokenizer.ok()) << pre_tokenizer.status().message();
    for (size_t i = 0; i < golden["texts"].size(); ++i) {
      const std::string text = golden["texts"][i];
      EXPECT_EQ(Words(*pre_tokenizer, text), rule["words"][i].get<std::vector<std::string>>())
          << rule["name"] << ": " << golden["texts"][i];
    }
  }
}

TEST(PreTokenizer, EveryRuleCompilesAndTakesLinearTime) {
  std::set<std::string_view> names;
  const std::string texts[] = {std::string(200000, ' '),  std::string(200000, ' ') + "x", std::string(200000, 'A'),
                               std::string(200000, '\n'), std::string(200000, '9'),       std::string(200000, '\'')};
  std::vector<std::vector<std::string_view>> seen;
  for (const PreTokenizerRule& rule : PreTokenizerRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " is in the table twice";
    const auto pre_tokenizer = PreTokenizer::ByName(rule.name);
    ASSERT_TRUE(pre_tokenizer.ok()) << rule.name << ": " << pre_tokenizer.status().message();
    if (std::find(seen.begin(), seen.end(), rule.patterns) != seen.end()) continue;
    seen.push_back(rule.patterns);
    for (const std::string& text : texts) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE(pre_tokenizer->Split(text).ok());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      EXPECT_LT(seconds.count(), 5.0) << rule.name << " on a run of '" << text[0] << "'";
    }
  }
}

TEST(PreTokenizer, UnknownNameIsNamedWithTheKnownOnes) {
  const auto made = PreTokenizer::ByName("no-such-rule");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), StatusCode::kUnimplemented);
  for (const char* part : {"tokenizer.ggml.pre", "'no-such-rule'", "smollm", "qwen2", "llama-bpe"}) {
    EXPECT_NE(made.status().message().find(part), std::string::npos) << made.status().message();
  }
}

TEST(RustLibrary, PanicBecomesAMessage) {
  RustBuffer output;
  EXPECT_EQ(candor_text_panic_for_test(output.out()), 0);
  EXPECT_NE(output.view().find("internal error"), std::string_view::npos) << output.view();
}

TEST(RustLibrary, BrokenPatternBecomesAMessage) {
  const CandorTextSlice pattern = RustSlice("(unclosed");
  RustBuffer error;
  EXPECT_EQ(candor_text_splitter_new(&pattern, 1, error.out()), nullptr);
  EXPECT_NE(error.view().find("(unclosed"), std::string_view::npos) << error.view();
}

}  // namespace
}  // namespace candor
