// How long a model file takes to open: a vocabulary as large as Gemma's (262,144 tokens with scores and types) and one
// as large as SmolLM2's (49,152 tokens with merges), the files in the page cache.
#include <benchmark/benchmark.h>

#include "formats/gguf/gguf_test_file.h"
#include "formats/model_file.h"
#include "platform/test_folder.h"

namespace candor {
namespace {

std::string FileWithVocabulary(int tokens, bool spm) {
  std::vector<std::string> texts;
  texts.reserve(tokens);
  for (int i = 0; i < tokens; ++i) texts.push_back(fmt::format("tok{}", i));
  GgufTestFile file;
  file.StringKey("general.architecture", "llama").Strings("tokenizer.ggml.tokens", texts);
  file.Array<int32_t>("tokenizer.ggml.token_type", GgufType::kI32, std::vector<int32_t>(tokens, 1));
  if (spm) {
    file.Array<float>("tokenizer.ggml.scores", GgufType::kF32, std::vector<float>(tokens, -1.0f));
  } else {
    file.Strings("tokenizer.ggml.merges", texts);
  }
  constexpr int kTensors = 300;
  constexpr uint64_t kTensorBytes = 4096;
  for (int i = 0; i < kTensors; ++i) {
    file.Tensor(fmt::format("blk.{}.ffn_up.weight", i), {32, 32}, 0, static_cast<uint64_t>(i) * kTensorBytes);
  }
  return file.Data(std::string(kTensors * kTensorBytes, 'x')).Build();
}

void Open(benchmark::State& state, int tokens, bool spm) {
  const TestFolder folder;
  const std::string path = folder.Write("model.gguf", FileWithVocabulary(tokens, spm));
  for (auto _ : state) {
    const auto opened = OpenModelFile(path);
    if (!opened.ok()) state.SkipWithError(opened.status().message().c_str());
    benchmark::DoNotOptimize(opened);
  }
}

BENCHMARK_CAPTURE(Open, as_large_as_gemma, 262'144, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Open, as_large_as_smollm2, 49'152, false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace candor
