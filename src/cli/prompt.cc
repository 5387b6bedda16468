#include "cli/prompt.h"

namespace candor::cli {

bool AddsBos(const Tokenizer& tokenizer) {
  const auto special = tokenizer.Encode("", {});
  return special.ok() && !special->empty() && tokenizer.bos() >= 0 && special->front() == tokenizer.bos();
}

Result<std::vector<TokenId>> EncodeChat(const Model& model, const std::vector<ChatMessage>& messages) {
  CANDOR_ASSIGN_OR_RETURN(const std::vector<TextSegment> segments, model.chat_template()->Render(messages, {}));
  const Tokenizer& tokenizer = model.tokenizer();
  CANDOR_ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer.EncodeSegments(segments, false));
  const bool has_bos = !ids.empty() && ids.front() == tokenizer.bos();
  if (!has_bos && AddsBos(tokenizer)) ids.insert(ids.begin(), tokenizer.bos());
  return ids;
}

Result<std::vector<TokenId>> EncodeText(const Model& model, const std::string& text, bool parse_special) {
  return model.tokenizer().Encode(text, {.add_special = true, .parse_special = parse_special});
}

}  // namespace candor::cli
