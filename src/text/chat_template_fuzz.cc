// Fuzz target: a template, two messages and variables from the input, cut at 0xFE. Compiling and rendering end with a
// value or a status, and no control token comes out that neither the template nor its string operations made: a message
// alone never makes one.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/model_file_builder.h"
#include "text/chat_template.h"
#include "text/utf8.h"

namespace candor {
namespace {

std::unique_ptr<const Tokenizer> MakeTokenizer() {
  static constexpr std::array<std::string_view, 7> kTokens = {"<unk>",  "<|im_start|>", "<|im_end|>", "<think>",
                                                              "[INST]", "<｜x｜>",      "a"};
  ModelFileBuilder builder("fuzz");
  builder.SetMetadata({{"tokenizer.ggml.model", std::string("llama")},
                       {"tokenizer.ggml.tokens", std::vector<std::string_view>(kTokens.begin(), kTokens.end())},
                       {"tokenizer.ggml.token_type", std::vector<int64_t>{2, 3, 3, 4, 3, 3, 1}},
                       {"tokenizer.ggml.scores", std::vector<float>(kTokens.size(), 0.0f)}});
  auto loaded = Tokenizer::Load(builder.Build());
  if (!loaded.ok()) std::abort();
  return std::move(*loaded);
}

std::string Next(std::string_view& rest) {
  const size_t end = std::min(rest.find('\xFE'), rest.size());
  std::string part(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// With a template that only prints, no part of a message may be markup that parses.
void CheckProvenance(const Tokenizer& tokenizer, const std::string& role, const std::string& content) {
  const auto printer = ChatTemplate::FromSource(
      "{{ messages[0].role }}{{ messages[0].content }}{{ messages[0].content | trim }}", tokenizer);
  if (!printer.ok()) std::abort();
  const auto segments = (*printer)->Render({{role, content}}, {});
  if (!segments.ok()) return;
  const auto ids = tokenizer.EncodeSegments(*segments, false);
  if (!ids.ok()) std::abort();
  for (const TokenId id : *ids) {
    if (tokenizer.Kind(id) == TokenKind::kControl) std::abort();
  }
}

}  // namespace
}  // namespace candor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace candor;
  static const std::unique_ptr<const Tokenizer> tokenizer = MakeTokenizer();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string source = Next(rest);
  const std::string content = Next(rest);
  const std::string role = Next(rest);
  ChatRenderOptions options;
  options.extra_json = std::string(rest);
  options.clock_seconds = 0;
  CheckProvenance(*tokenizer, role, content);
  const auto made = ChatTemplate::FromSource(source, *tokenizer);
  if (!made.ok()) return 0;
  const auto segments = (*made)->Render({{role, content}, {"assistant", content}}, options);
  if (!segments.ok()) return 0;
  for (const TextSegment& segment : *segments) {
    if (!IsUtf8(segment.text)) std::abort();
  }
  return 0;
}
