// SpmTokenizer: SentencePiece-style BPE (tokenizer.ggml.model = llama; Llama 2, Gemma). Spaces are written as U+2581,
// of all adjacent pairs whose concatenation is a token the one with the highest score merges first, and what is no
// token falls back to bytes <0xXX>.
#pragma once

#include <array>

#include "text/merge_loop.h"
#include "text/vocabulary_tokenizer.h"

namespace candor {

class SpmTokenizer final : public VocabularyTokenizer {
 public:
  static Result<std::unique_ptr<const Tokenizer>> Load(std::unique_ptr<const Vocabulary> vocabulary);
  std::string_view model_name() const override { return "llama"; }
  bool strips_leading_space() const override { return add_space_prefix_; }

 private:
  explicit SpmTokenizer(std::unique_ptr<const Vocabulary> vocabulary);
  Status ReadScores();
  Status EncodeText(std::string_view text, bool after_special, std::vector<TokenId>& ids) const override;
  std::string PlainBytes(TokenId id) const override;
  Status AppendPiece(std::string_view piece, std::vector<TokenId>& ids) const;

  std::vector<uint32_t> priorities_;  // per token: smaller merges first; kNoMerge: a token that text does not become
  std::array<TokenId, 256> byte_tokens_;  // -1: none
  bool add_space_prefix_ = true;
};

}  // namespace candor
