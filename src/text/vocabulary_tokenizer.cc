#include "text/vocabulary_tokenizer.h"

namespace candor {

VocabularyTokenizer::VocabularyTokenizer(std::unique_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), special_tokens_(*vocabulary_), ids_(vocabulary_->special_ids()) {}

Status VocabularyTokenizer::ReadAddSpecial(bool add_bos_by_default) {
  const ModelFile& file = vocabulary_->file();
  CANDOR_ASSIGN_OR_RETURN(add_bos_,
                          file.GetBoolOr("tokenizer.ggml.add_bos_token", add_bos_by_default && ids_.bos >= 0));
  CANDOR_ASSIGN_OR_RETURN(add_eos_, file.GetBoolOr("tokenizer.ggml.add_eos_token", false));
  const auto missing = [](std::string_view flag, std::string_view id) {
    return InvalidArgumentError("{}: expected {} in the file too, got none; the file's vocabulary is broken", flag, id);
  };
  if (add_bos_ && ids_.bos < 0) return missing("tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id");
  if (add_eos_ && ids_.eos < 0) return missing("tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id");
  return OkStatus();
}

Status VocabularyTokenizer::EncodeFragments(std::string_view text, std::span<const TextRange> markup,
                                            std::vector<TokenId>& ids) const {
  constexpr size_t kLargestText = size_t{1} << 30;
  if (text.size() > kLargestText) {
    return ResourceExhaustedError("text: expected at most {} bytes, got {}; send it in parts", kLargestText,
                                  text.size());
  }
  bool after_special = true;
  for (const Fragment& fragment : special_tokens_.Partition(text, markup)) {
    if (fragment.token >= 0) {
      ids.push_back(fragment.token);
    } else {
      CANDOR_RETURN_IF_ERROR(EncodeText(fragment.text, after_special, ids));
    }
    after_special = fragment.token >= 0;
  }
  return OkStatus();
}

Result<std::vector<TokenId>> VocabularyTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<TokenId> ids;
  if (options.add_special && add_bos_) ids.push_back(ids_.bos);
  const TextRange everything{0, text.size()};
  const size_t ranges = options.parse_special ? 1 : 0;
  CANDOR_RETURN_IF_ERROR(EncodeFragments(text, std::span(&everything, ranges), ids));
  if (options.add_special && add_eos_) ids.push_back(ids_.eos);
  return ids;
}

Result<std::vector<TokenId>> VocabularyTokenizer::EncodeSegments(std::span<const TextSegment> segments,
                                                                 bool add_special) const {
  std::string text;
  std::vector<TextRange> markup;
  for (const TextSegment& segment : segments) {
    const size_t begin = text.size();
    text += segment.text;
    if (!segment.markup || segment.text.empty()) continue;
    if (!markup.empty() && markup.back().end == begin) {
      markup.back().end = text.size();
    } else {
      markup.push_back({begin, text.size()});
    }
  }
  std::vector<TokenId> ids;
  CANDOR_RETURN_IF_ERROR(EncodeFragments(text, markup, ids));
  if (add_special && add_bos_ && (ids.empty() || ids.front() != ids_.bos)) ids.insert(ids.begin(), ids_.bos);
  if (add_special && add_eos_) ids.push_back(ids_.eos);
  return ids;
}

std::string VocabularyTokenizer::TokenBytes(TokenId id, bool render_special) const {
  if (!vocabulary_->Contains(id)) return {};
  switch (vocabulary_->Kind(id)) {
    case TokenKind::kControl:
    case TokenKind::kUnknown:
      return render_special ? std::string(vocabulary_->Text(id)) : std::string();
    case TokenKind::kUserDefined:
      return std::string(vocabulary_->Text(id));
    default:
      return PlainBytes(id);
  }
}

}  // namespace candor
