// The vocabularies that testing.h declares.
#include "text/testing.h"
#include "text/utf8.h"

namespace candor::text_testing {

MetadataFile BpeFile(const std::vector<std::string>& merges, const std::vector<SpecialEntry>& specials) {
  std::vector<std::string> tokens;
  std::vector<int64_t> types;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    AppendUtf8(tokens.emplace_back(), printable ? static_cast<char32_t>(byte) : next++);
  }
  for (const std::string& merge : merges) {
    const size_t space = merge.find(' ');
    tokens.push_back(merge.substr(0, space) + merge.substr(space + 1));
  }
  types.assign(tokens.size(), 1);
  for (const SpecialEntry& special : specials) {
    tokens.push_back(special.text);
    types.push_back(special.type);
  }
  MetadataFile file;
  file.Set("tokenizer.ggml.model", std::string("gpt2")).Set("tokenizer.ggml.pre", std::string("gpt-2"));
  file.Set("tokenizer.ggml.token_type", types);
  file.SetStrings("tokenizer.ggml.tokens", tokens).SetStrings("tokenizer.ggml.merges", merges);
  return file;
}

MetadataFile SpmFile(const std::vector<std::string>& pieces, const std::vector<SpecialEntry>& specials) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int64_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(fmt::format("<0x{:02X}>", byte));
    types.push_back(6);
  }
  std::vector<float> scores(tokens.size(), 0.0f);
  for (const std::string& piece : pieces) {
    tokens.push_back(piece);
    types.push_back(1);
    scores.push_back(static_cast<float>(scores.size()) * -1.0f);
  }
  for (const SpecialEntry& special : specials) {
    tokens.push_back(special.text);
    types.push_back(special.type);
    scores.push_back(0.0f);
  }
  MetadataFile file;
  file.Set("tokenizer.ggml.model", std::string("llama")).Set("tokenizer.ggml.token_type", types);
  file.Set("tokenizer.ggml.scores", scores).SetStrings("tokenizer.ggml.tokens", tokens);
  return file;
}

}  // namespace candor::text_testing
