#include "runtime/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "text/detokenizer.h"

namespace candor {
namespace {

// A tiny random model of the llama family with the greedy continuations of an independent implementation.
class GenerateTest : public testing::Test {
 protected:
  static constexpr const char* kModel = "tests/models/llama.gguf";

  void SetUp() override { reference_ = nlohmann::json::parse(std::ifstream("tests/models/llama.json")); }

  std::unique_ptr<Engine> MakeEngine(LoadOptions options = {}) {
    auto model = Model::Load(kModel, options, nullptr);
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return nullptr;
    auto engine = Engine::Create(*model);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? std::move(*engine) : nullptr;
  }

  std::vector<TokenId> Prompt(size_t index) const { return reference_["prompts"][index]["ids"]; }
  std::vector<TokenId> Expected(size_t index) const { return reference_["prompts"][index]["greedy"]; }

  GenerateRequest Greedy(size_t index, int64_t max_tokens) const {
    GenerateRequest request;
    request.prompt = Prompt(index);
    request.max_tokens = max_tokens;
    request.ignore_eos = true;
    request.sampling.temperature = 0;
    return request;
  }

  static GenerateResult Run(Engine& engine, Sequence& sequence, const GenerateRequest& request) {
    auto result = Generate(engine, sequence, request);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(*result) : GenerateResult();
  }
  static GenerateResult Run(Engine& engine, const GenerateRequest& request) {
    const auto sequence = engine.NewSequence();
    return Run(engine, *sequence, request);
  }

  nlohmann::json reference_;
};

TEST_F(GenerateTest, GreedyTokensAreTheReferenceAtEveryChunkSize) {
  for (const uint32_t chunk : {1u, 7u, 512u}) {
    const auto engine = MakeEngine({.prefill_chunk = chunk});
    for (size_t prompt = 0; prompt < 3; ++prompt) {
      const GenerateResult result = Run(*engine, Greedy(prompt, 24));
      EXPECT_EQ(result.tokens, Expected(prompt)) << "prompt " << prompt << ", chunk " << chunk;
      EXPECT_EQ(result.stop_reason, StopReason::kLength);
      EXPECT_EQ(result.prompt_tokens, static_cast<int64_t>(Prompt(prompt).size()));
    }
  }
}

TEST_F(GenerateTest, MaxTokensIsExact) {
  const auto engine = MakeEngine();
  for (const int64_t count : {0, 1, 2, 10}) {
    const GenerateResult result = Run(*engine, Greedy(1, count));
    EXPECT_EQ(static_cast<int64_t>(result.tokens.size()), count);
    EXPECT_EQ(result.stop_reason, StopReason::kLength);
  }
  const auto sequence = engine->NewSequence();
  Run(*engine, *sequence, Greedy(1, 0));
  EXPECT_EQ(sequence->tokens(), Prompt(1));
}

TEST_F(GenerateTest, AnEmptyPromptContinuesTheSequence) {
  const auto engine = MakeEngine();
  const auto sequence = engine->NewSequence();
  Run(*engine, *sequence, Greedy(2, 0));
  GenerateRequest request = Greedy(2, 5);
  request.prompt.clear();
  const auto expected = Expected(2);
  EXPECT_EQ(Run(*engine, *sequence, request).tokens, (std::vector<TokenId>(expected.begin(), expected.begin() + 5)));

  const auto empty = engine->NewSequence();
  EXPECT_EQ(Generate(*engine, *empty, request).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(GenerateTest, AFullContextEndsTheReply) {
  const auto engine = MakeEngine({.context = 40});
  const auto sequence = engine->NewSequence();
  const GenerateResult result = Run(*engine, *sequence, Greedy(2, -1));  // 33 tokens of prompt
  EXPECT_EQ(result.stop_reason, StopReason::kContext);
  EXPECT_EQ(sequence->length(), 40);
  EXPECT_EQ(result.tokens.size(), 8u);  // the last one is not stored
}

TEST_F(GenerateTest, APromptBeyondTheContextIsAnErrorWithBothNumbers) {
  const auto engine = MakeEngine({.context = 32});
  const auto sequence = engine->NewSequence();
  const auto result = Generate(*engine, *sequence, Greedy(2, 4));
  EXPECT_EQ(result.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(result.status().message().find("32"), std::string::npos);
  EXPECT_NE(result.status().message().find("33"), std::string::npos);
  EXPECT_EQ(sequence->length(), 0);
}

TEST_F(GenerateTest, BadRequestsLeaveTheSequenceAlone) {
  const auto engine = MakeEngine();
  const auto sequence = engine->NewSequence();
  Run(*engine, *sequence, Greedy(1, 0));
  const auto before = sequence->tokens();
  auto expect_invalid = [&](auto change) {
    GenerateRequest request = Greedy(0, 4);
    change(request);
    EXPECT_EQ(Generate(*engine, *sequence, request).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(sequence->tokens(), before);
  };
  expect_invalid([](GenerateRequest& r) { r.max_tokens = -2; });
  expect_invalid([](GenerateRequest& r) { r.stop = {""}; });
  expect_invalid([](GenerateRequest& r) { r.prompt = {5, 1024}; });
  expect_invalid([](GenerateRequest& r) { r.prompt = {-1}; });
  expect_invalid([](GenerateRequest& r) { r.sampling.temperature = -1; });
}

TEST_F(GenerateTest, EndOfGenerationEndsTheReplyUnlessIgnored) {
  const auto engine = MakeEngine();
  const TokenId eos = engine->model().tokenizer().eos();
  ASSERT_GE(eos, 0);
  GenerateRequest request = Greedy(1, 3);
  request.sampling.logit_bias = {{eos, 1e6f}};
  EXPECT_EQ(Run(*engine, request).tokens, (std::vector<TokenId>{eos, eos, eos}));
  request.ignore_eos = false;
  const GenerateResult result = Run(*engine, request);
  EXPECT_EQ(result.stop_reason, StopReason::kEos);
  EXPECT_TRUE(result.tokens.empty());
  EXPECT_EQ(result.text, "");
}

TEST_F(GenerateTest, StreamsExactlyTheText) {
  const auto engine = MakeEngine();
  GenerateRequest request = Greedy(2, 24);
  std::string streamed;
  request.on_text = [&](std::string_view text) { streamed += text; };
  const GenerateResult result = Run(*engine, request);
  EXPECT_EQ(streamed, result.text);
  Detokenizer detokenizer(engine->model().tokenizer());
  std::string expected;
  for (const TokenId id : result.tokens) expected += detokenizer.Push(id);
  EXPECT_EQ(result.text, expected + detokenizer.Flush());
}

TEST_F(GenerateTest, AStopStringIsFoundAcrossTokenBorders) {
  const auto engine = MakeEngine();
  const GenerateResult whole = Run(*engine, Greedy(2, 24));
  const Tokenizer& tokenizer = engine->model().tokenizer();
  int tried = 0;
  for (size_t i = 0; i + 1 < whole.tokens.size(); ++i) {
    const std::string left = tokenizer.TokenBytes(whole.tokens[i], false);
    const std::string right = tokenizer.TokenBytes(whole.tokens[i + 1], false);
    const bool ascii = std::all_of(left.begin(), left.end(), [](char c) { return c >= 0; }) &&
                       std::all_of(right.begin(), right.end(), [](char c) { return c >= 0; });
    if (left.empty() || right.empty() || !ascii) continue;
    GenerateRequest request = Greedy(2, 24);
    request.stop = {std::string{left.back(), right.front()}};
    std::string streamed;
    request.on_text = [&](std::string_view text) { streamed += text; };
    const GenerateResult result = Run(*engine, request);
    EXPECT_EQ(result.stop_reason, StopReason::kStop);
    EXPECT_EQ(result.stop_string, request.stop[0]);
    EXPECT_EQ(result.text, whole.text.substr(0, whole.text.find(request.stop[0])));
    EXPECT_EQ(streamed, result.text);
    ++tried;
  }
  EXPECT_GT(tried, 0);
}

TEST_F(GenerateTest, CancelKeepsWhatThereIsOfTheReply) {
  const auto engine = MakeEngine();
  const auto sequence = engine->NewSequence();
  std::atomic<bool> cancel{false};
  GenerateRequest request = Greedy(2, -1);
  request.cancel = &cancel;
  request.on_text = [&](std::string_view) { cancel = true; };
  const GenerateResult result = Run(*engine, *sequence, request);
  EXPECT_EQ(result.stop_reason, StopReason::kCancelled);
  EXPECT_FALSE(result.tokens.empty());
  EXPECT_LT(result.tokens.size(), 24u);
  std::vector<TokenId> expected = Expected(2);
  expected.resize(result.tokens.size());
  EXPECT_EQ(result.tokens, expected);
}

TEST_F(GenerateTest, ACancelledPrefillLeavesTheSequenceAlone) {
  const auto engine = MakeEngine({.prefill_chunk = 4});
  const auto sequence = engine->NewSequence();
  Run(*engine, *sequence, Greedy(1, 0));
  const std::atomic<bool> cancel{true};
  GenerateRequest request = Greedy(2, 8);
  request.cancel = &cancel;
  const GenerateResult result = Run(*engine, *sequence, request);
  EXPECT_EQ(result.stop_reason, StopReason::kCancelled);
  EXPECT_TRUE(result.tokens.empty());
  EXPECT_EQ(sequence->tokens(), Prompt(1));
}

TEST_F(GenerateTest, SameSeedSameTextWhateverTheThreadCount) {
  GenerateRequest request = Greedy(2, 40);
  request.sampling = SamplerOptions();
  request.sampling.temperature = 1.5f;
  request.sampling.repetition_penalty = 1.2f;
  request.sampling.seed = 99;
  const auto one = Run(*MakeEngine({.threads = 1}), request);
  const auto two = Run(*MakeEngine({.threads = 2}), request);
  EXPECT_EQ(one.tokens, two.tokens);
  request.sampling.seed = 100;
  EXPECT_NE(Run(*MakeEngine({.threads = 1}), request).tokens, one.tokens);
}

}  // namespace
}  // namespace candor
