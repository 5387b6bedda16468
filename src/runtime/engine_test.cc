#include "runtime/engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace candor {
namespace {

std::shared_ptr<const Model> LoadTiny(const std::string& name, LoadOptions options = {}) {
  auto model = Model::Load("tests/models/" + name + ".gguf", options, nullptr);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? *model : nullptr;
}

std::unique_ptr<Engine> MakeEngine(const std::string& name, LoadOptions options = {}) {
  auto engine = Engine::Create(LoadTiny(name, options));
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return std::move(*engine);
}

std::vector<TokenId> SomeTokens(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(random() % 1000);
  return ids;
}

// The logits of the last position, prompt fed in chunks of `chunk`.
std::vector<float> LastLogits(Engine& engine, Sequence& sequence, const std::vector<TokenId>& ids, size_t chunk) {
  std::vector<float> last;
  for (size_t begin = 0; begin < ids.size(); begin += chunk) {
    const SequenceRows rows{&sequence, std::span(ids).subspan(begin, std::min(chunk, ids.size() - begin)),
                            SequenceRows::Logits::kLast};
    const auto logits = engine.Step({&rows, 1});
    EXPECT_TRUE(logits.ok()) << logits.status().message();
    last.assign(logits->begin(), logits->end());
  }
  return last;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class EngineOnEveryFamily : public testing::TestWithParam<const char*> {};

TEST_P(EngineOnEveryFamily, BitsDoNotDependOnChunksThreadsOrCompany) {
  const std::vector<TokenId> ids = SomeTokens(150, 7);
  for (const CpuIsa isa : kAllCpuIsas) {
    if (!CpuSupports(isa)) {
      std::printf("NOT RUN: %s on this machine\n", std::string(CpuIsaName(isa)).c_str());
      continue;
    }
    LoadOptions options;
    options.cpu_isa = isa;
    options.threads = 1;
    std::unique_ptr<Engine> engine = MakeEngine(GetParam(), options);
    const std::vector<float> alone = LastLogits(*engine, *engine->NewSequence(), ids, ids.size());
    ASSERT_EQ(alone.size(), engine->model().config().vocabulary);
    for (const size_t chunk : {1, 3, 7, 32, 64, 100}) {
      EXPECT_TRUE(SameBits(alone, LastLogits(*engine, *engine->NewSequence(), ids, chunk)))
          << CpuIsaName(isa) << " chunk " << chunk;
    }
    for (const int threads : {2, 5}) {
      options.threads = threads;
      std::unique_ptr<Engine> other = MakeEngine(GetParam(), options);
      EXPECT_TRUE(SameBits(alone, LastLogits(*other, *other->NewSequence(), ids, 40)))
          << CpuIsaName(isa) << " threads " << threads;
    }
    // In company: the last token of `ids` decoded beside other sequences' prompts and tokens.
    const auto guest_a = SomeTokens(33, 1), guest_b = SomeTokens(5, 2);
    auto sequence = engine->NewSequence(), a = engine->NewSequence(), b = engine->NewSequence();
    LastLogits(*engine, *sequence, std::vector<TokenId>(ids.begin(), ids.end() - 1), 50);
    const SequenceRows batch[] = {{a.get(), guest_a, SequenceRows::Logits::kAll},
                                  {sequence.get(), std::span(ids).last(1), SequenceRows::Logits::kLast},
                                  {b.get(), guest_b, SequenceRows::Logits::kNone}};
    const auto together = engine->Step(batch);
    ASSERT_TRUE(together.ok()) << together.status().message();
    ASSERT_EQ(together->size(), 34 * alone.size());
    EXPECT_EQ(std::memcmp(together->data() + 33 * alone.size(), alone.data(), alone.size() * sizeof(float)), 0)
        << CpuIsaName(isa);
  }
}

TEST_P(EngineOnEveryFamily, ACloneGoesOnLikeTheOriginal) {
  std::unique_ptr<Engine> engine = MakeEngine(GetParam());
  auto original = engine->NewSequence();
  LastLogits(*engine, *original, SomeTokens(70, 3), 64);
  auto clone = engine->Clone(*original);
  ASSERT_TRUE(clone.ok());
  const std::vector<float> of_clone = LastLogits(*engine, **clone, SomeTokens(9, 4), 9);
  LastLogits(*engine, **clone, SomeTokens(30, 6), 30);  // must not touch the original's pages
  EXPECT_TRUE(SameBits(LastLogits(*engine, *original, SomeTokens(9, 4), 9), of_clone));
}

INSTANTIATE_TEST_SUITE_P(Families, EngineOnEveryFamily,
                         testing::Values("llama", "llama-f16", "llama_rope3", "gemma3", "qwen2", "qwen3", "qwen3-f16"));

TEST(Engine, GoingBackGivesTheSameBits) {
  std::unique_ptr<Engine> engine = MakeEngine("llama");
  auto sequence = engine->NewSequence();
  LastLogits(*engine, *sequence, SomeTokens(80, 3), 64);
  const std::vector<float> first = LastLogits(*engine, *sequence, SomeTokens(20, 4), 20);
  ASSERT_TRUE(sequence->Truncate(80).ok());
  EXPECT_TRUE(SameBits(LastLogits(*engine, *sequence, SomeTokens(20, 4), 7), first));
  EXPECT_EQ(sequence->Truncate(101).code(), StatusCode::kInvalidArgument);
}

TEST(Engine, RefusesWhatItCannotRunAndStaysUsable) {
  LoadOptions options;
  options.context = 32;
  options.prefill_chunk = 16;
  std::unique_ptr<Engine> engine = MakeEngine("llama", options);
  auto sequence = engine->NewSequence();
  const auto code = [&](std::vector<TokenId> ids) {
    const SequenceRows rows{sequence.get(), ids, SequenceRows::Logits::kLast};
    return engine->Step({&rows, 1}).status().code();
  };
  EXPECT_EQ(code({}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({-1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({1024}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SomeTokens(17, 1)), StatusCode::kInvalidArgument) << "more rows than a step takes";
  EXPECT_EQ(code(SomeTokens(16, 1)), StatusCode::kOk);
  EXPECT_EQ(code(SomeTokens(16, 1)), StatusCode::kOk);
  EXPECT_EQ(code({1}), StatusCode::kFailedPrecondition) << "the context is full";
  EXPECT_EQ(sequence->length(), 32);
  const std::vector<TokenId> one = {1};
  const SequenceRows twice[] = {{sequence.get(), one, SequenceRows::Logits::kLast},
                                {sequence.get(), one, SequenceRows::Logits::kLast}};
  ASSERT_TRUE(sequence->Truncate(0).ok());
  EXPECT_EQ(engine->Step(twice).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({1}), StatusCode::kOk);
}

TEST(Model, RefusesOptionsItCannotHonour) {
  const auto code = [](LoadOptions options) {
    return Model::Load("tests/models/llama.gguf", options, nullptr).status().code();
  };
  LoadOptions options;
  options.context = 1u << 20;
  EXPECT_EQ(code(options), StatusCode::kInvalidArgument);
  options = {};
  options.threads = -1;
  EXPECT_EQ(code(options), StatusCode::kInvalidArgument);
  options = {};
  options.device = "vulkan";
  EXPECT_EQ(code(options), StatusCode::kUnavailable);
  options = {};
  options.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_EQ(code(options), StatusCode::kCancelled);
}

TEST(Engine, ReportSaysWhatRan) {
  std::unique_ptr<Engine> engine = MakeEngine("qwen3");
  LastLogits(*engine, *engine->NewSequence(), SomeTokens(10, 3), 10);
  const PlacementReport report = engine->Report();
  EXPECT_EQ(report.device, "cpu");
  EXPECT_EQ(report.rows, 10u);
  EXPECT_EQ(report.steps, 1u);
  uint64_t matmul_bytes = 0;
  for (const OpPlacement& op : report.ops) matmul_bytes += op.weight_bytes;
  EXPECT_GT(matmul_bytes, 0u);
  EXPECT_LE(matmul_bytes, report.weight_bytes);
}

}  // namespace
}  // namespace candor
