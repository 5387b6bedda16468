// What both tokenizer kinds share: special tokens are cut out first, the text between them is encoded by the kind's own
// rule.
#pragma once

#include <memory>

#include "text/special_tokens.h"
#include "text/vocabulary.h"

namespace candor {

class VocabularyTokenizer : public Tokenizer {
 public:
  Result<std::vector<TokenId>> Encode(std::string_view text, const EncodeOptions& options) const override;
  Result<std::vector<TokenId>> EncodeSegments(std::span<const TextSegment> segments, bool add_special) const override;
  TokenKind Kind(TokenId id) const override { return vocabulary_->Kind(id); }
  int32_t vocabulary_size() const override { return vocabulary_->size(); }
  bool IsEndOfGeneration(TokenId id) const override { return vocabulary_->IsEndOfGeneration(id); }
  TokenId bos() const override { return ids_.bos; }
  TokenId eos() const override { return ids_.eos; }
  std::string_view TokenText(TokenId id) const override { return vocabulary_->Text(id); }
  std::span<const TokenId> special_tokens() const override { return vocabulary_->special_tokens(); }
  bool MatchesInText(TokenId id) const override { return vocabulary_->MatchesInText(id); }
  std::string TokenBytes(TokenId id, bool render_special) const override;

 protected:
  // `vocabulary` is on the heap because the special tokens refer to it.
  explicit VocabularyTokenizer(std::unique_ptr<const Vocabulary> vocabulary);

  // Reads add_bos_token and add_eos_token. InvalidArgument when one is true and the file names no such token.
  Status ReadAddSpecial(bool add_bos_by_default);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  SpecialIds& ids() { return ids_; }
  const SpecialIds& ids() const { return ids_; }

 private:
  // Appends the ids of a text without special tokens. `after_special`: it begins the prompt or follows a special token.
  virtual Status EncodeText(std::string_view text, bool after_special, std::vector<TokenId>& ids) const = 0;
  // The bytes of a normal or byte token.
  virtual std::string PlainBytes(TokenId id) const = 0;

  Status EncodeFragments(std::string_view text, std::span<const TextRange> markup, std::vector<TokenId>& ids) const;

  std::unique_ptr<const Vocabulary> vocabulary_;
  SpecialTokens special_tokens_;
  SpecialIds ids_;
  bool add_bos_ = false;
  bool add_eos_ = false;
};

}  // namespace candor
