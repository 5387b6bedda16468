// Real vocabularies against independent implementations: llama.cpp's ids (tests/goldens) and Hugging Face's
// (tests/models/*.json).
#include <chrono>

#include "text/testing.h"

namespace candor {
namespace {

using text_testing::CachedModel;
using text_testing::OpenOrFail;
using text_testing::ReadJson;

struct Golden {
  std::string name;   // of the test
  std::string model;  // in the cache
  std::string key;    // of tests/goldens/*.json
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

std::string DecodeBase64(const std::string& text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kAlphabet.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return bytes;
}

class TokenizerGolden : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    const std::shared_ptr<const ModelFile> file = CachedModel(GetParam().model);
    ASSERT_NE(file, nullptr);
    auto loaded = Tokenizer::Load(file);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    tokenizer_ = std::move(*loaded);
  }
  std::vector<TokenId> Ids(const std::string& text, bool parse_special) const {
    const auto ids = tokenizer_->Encode(text, {.add_special = true, .parse_special = parse_special});
    EXPECT_TRUE(ids.ok()) << ids.status().message();
    return ids.ok() ? *ids : std::vector<TokenId>{};
  }
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_P(TokenizerGolden, TextsMatchLlamaCpp) {
  const nlohmann::ordered_json golden = ReadJson("tests/goldens/tokenize_" + GetParam().key + ".json");
  ASSERT_GE(golden["texts"].size(), 40u);
  for (const nlohmann::ordered_json& entry : golden["texts"]) {
    const std::string text = entry.contains("text") ? entry["text"].get<std::string>() : DecodeBase64(entry["base64"]);
    const auto plain = entry["ids"].get<std::vector<TokenId>>();
    EXPECT_EQ(Ids(text, false), plain) << entry["name"];
    EXPECT_EQ(Ids(text, true), entry.value("ids_parse_special", plain)) << entry["name"] << ", special tokens parsed";
  }
}

TEST_P(TokenizerGolden, PromptsMatchLlamaCpp) {
  for (const std::string suffix : {"", "_more"}) {
    const nlohmann::ordered_json golden = ReadJson("tests/goldens/" + GetParam().key + suffix + ".json");
    ASSERT_FALSE(golden["prompts"].empty());
    for (const nlohmann::ordered_json& prompt : golden["prompts"]) {
      const bool parse_special = prompt.value("parse_special", prompt.contains("rendered"));
      const std::string text = prompt.contains("rendered") ? prompt["rendered"] : prompt["text"];
      EXPECT_EQ(Ids(text, parse_special), prompt["prompt_ids"].get<std::vector<TokenId>>())
          << prompt.dump().substr(0, 200);
      for (const bool other : {false, true}) {
        const std::string key = std::string("prompt_ids_with_parse_special_") + (other ? "true" : "false");
        if (prompt.contains(key)) {
          EXPECT_EQ(Ids(text, other), prompt[key].get<std::vector<TokenId>>()) << key;
        }
      }
    }
  }
}

TEST_P(TokenizerGolden, ValidTextComesBack) {
  const nlohmann::ordered_json golden = ReadJson("tests/goldens/tokenize_" + GetParam().key + ".json");
  for (const nlohmann::ordered_json& entry : golden["texts"]) {
    // SmolLM2's vocabulary lacks some bytes; U+2581 is a space to SentencePiece.
    if (!entry.contains("text")) continue;
    const std::string text = entry["text"];
    if (text.find("\u2581") != std::string::npos) continue;
    const std::string back = tokenizer_->Decode(Ids(text, false), false);
    if (GetParam().name == "Gemma") {
      EXPECT_EQ(back, text) << entry["name"];
    }
    if (GetParam().name == "SmolLM2" && entry["name"].get<std::string>().starts_with("long_")) {
      EXPECT_EQ(back, text) << entry["name"];
    }
  }
}

// A megabyte of anything is encoded at about a megabyte per second. What is quadratic does not end before the test's
// limit of ten minutes; under a sanitizer, which is ten times as slow, the text is shorter.
TEST_P(TokenizerGolden, MegabyteOfAnything) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr size_t kBytes = 100000;
#else
  constexpr size_t kBytes = 1000000;
#endif
  const auto repeat = [](const std::string& unit) {
    std::string text;
    while (text.size() < kBytes) text += unit;
    return text;
  };
  std::string letters;
  for (size_t i = 0; i < kBytes; ++i) letters.push_back(static_cast<char>('a' + (i * i + i / 7) % 26));
  const std::pair<std::string, std::string> texts[] = {
      {"prose", repeat("The quick brown fox doesn't jump over 12 lazy dogs, does it?\n")},
      {"one letter", std::string(kBytes, 'a')},
      {"letters without a space", letters},
      {"spaces", std::string(kBytes, ' ')},
      {"spaces, then a letter", std::string(kBytes, ' ') + "x"},
      {"newlines", std::string(kBytes, '\n')},
      {"spaces and letters", repeat("  a")},
      {"digits", repeat("0123456789")},
      {"CJK", repeat("今天天气很好")},
      {"emoji", repeat("👩🏽‍💻")},
      {"markup", repeat("<|im_start|>")},
      {"open markup", repeat("<")},
      {"invalid UTF-8", std::string(kBytes, '\xFF')},
  };
  for (const auto& [name, text] : texts) {
    for (const bool parse_special : {false, true}) {
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<TokenId> ids = Ids(text, parse_special);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      EXPECT_FALSE(ids.empty());
      RecordProperty(name + (parse_special ? " (special)" : ""), std::to_string(seconds.count()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TokenizerGolden,
                         testing::Values(Golden{"SmolLM2", "SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2_135m_q4_1"},
                                         Golden{"Gemma", "gemma-3-270m-q4_k_m.gguf", "gemma3_270m_q4_k_m"}),
                         [](const auto& info) { return info.param.name; });

TEST(TinyModels, TextsMatchHuggingFace) {
  for (const std::string name : {"llama", "llama_rope3", "gemma3", "qwen2", "qwen3"}) {
    const auto file = OpenOrFail("tests/models/" + name + ".gguf", "run the tests from the repository's root");
    ASSERT_NE(file, nullptr);
    const auto tokenizer = Tokenizer::Load(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    const nlohmann::ordered_json reference = ReadJson("tests/models/" + name + ".json");
    ASSERT_FALSE(reference["tokenizer"].empty());
    for (const nlohmann::ordered_json& entry : reference["tokenizer"]) {
      const auto ids = (*tokenizer)->Encode(entry["text"].get<std::string>(), {.add_special = false});
      ASSERT_TRUE(ids.ok()) << ids.status().message();
      EXPECT_EQ(*ids, entry["ids"].get<std::vector<TokenId>>()) << name << ": " << entry["text"];
      EXPECT_EQ((*tokenizer)->Decode(*ids, false), entry["text"].get<std::string>());
    }
  }
}

}  // namespace
}  // namespace candor
