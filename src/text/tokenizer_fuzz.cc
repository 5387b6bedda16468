// Fuzz target: a vocabulary and a text, both from the input. Whatever they are, loading and encoding end with a value
// or a status, ids are in range, and every id decodes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/model_file_builder.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace candor {
namespace {

// Takes values off the front of the input; zeros when it is used up.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view Take(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::shared_ptr<const ModelFile> MakeFile(Input& input) {
  std::vector<std::pair<std::string, MetadataValue>> metadata;
  const auto set = [&](const char* key, MetadataValue value) {
    metadata.emplace_back(std::string("tokenizer.ggml.") + key, std::move(value));
  };
  const uint8_t flags = input.Byte();
  const auto& rules = PreTokenizerRules();
  const std::string_view pre = rules[input.Byte() % rules.size()].name;
  set("model", std::string((flags & 1) != 0 ? "gpt2" : "llama"));
  if ((flags & 2) == 0) set("pre", std::string(pre));
  std::vector<std::string_view> tokens, merges;
  std::vector<int64_t> types;
  std::vector<float> scores;
  for (int count = input.Byte(); count > 0 && !input.empty(); --count) {
    const uint8_t head = input.Byte();
    tokens.push_back(input.Take(head & 15));
    types.push_back(head >> 4 & 7);
    scores.push_back(static_cast<float>(static_cast<int8_t>(input.Byte())));
  }
  for (int count = input.Byte(); count > 0 && !input.empty(); --count) merges.push_back(input.Take(input.Byte() & 15));
  for (const char* key : {"bos_token_id", "eos_token_id", "unknown_token_id"}) {
    if (const uint8_t id = input.Byte(); id < 250) set(key, uint64_t{id});
  }
  if ((flags & 4) != 0) set("add_bos_token", (flags & 8) != 0);
  if ((flags & 16) != 0) set("add_space_prefix", (flags & 8) != 0);
  set("tokens", std::move(tokens));
  set("token_type", std::move(types));
  if ((flags & 32) == 0) set("scores", std::move(scores));
  if ((flags & 64) == 0) set("merges", std::move(merges));
  ModelFileBuilder builder("fuzz");
  builder.SetMetadata(std::move(metadata));
  return builder.Build();
}

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckIds(const Tokenizer& tokenizer, const Result<std::vector<TokenId>>& ids) {
  if (!ids.ok()) return;
  for (const TokenId id : *ids) Require(id >= 0 && id < tokenizer.vocabulary_size());
  Require(IsUtf8(tokenizer.Decode(*ids, true)));
  Require(IsUtf8(tokenizer.Decode(*ids, false)));
}

}  // namespace
}  // namespace candor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace candor;
  Input input(data, size);
  const auto tokenizer = Tokenizer::Load(MakeFile(input));
  if (!tokenizer.ok()) return 0;
  const std::string_view text = input.Take(size);
  for (const bool parse_special : {false, true})
    CheckIds(**tokenizer, (*tokenizer)->Encode(text, {.parse_special = parse_special}));
  const size_t half = text.size() / 2;
  const TextSegment segments[] = {{std::string(text.substr(0, half)), true}, {std::string(text.substr(half)), false}};
  CheckIds(**tokenizer, (*tokenizer)->EncodeSegments(segments, true));
  return 0;
}
