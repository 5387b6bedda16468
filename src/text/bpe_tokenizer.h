// BpeTokenizer: byte-level BPE (tokenizer.ggml.model = gpt2). A text is cut into words by the pre-tokenizer's
// expressions, each word's bytes are written as GPT-2's printable characters, and merged by rank. Sennrich et al. 2016;
// Radford et al. 2019.
#pragma once

#include "text/merge_loop.h"
#include "text/pre_tokenizer.h"
#include "text/vocabulary_tokenizer.h"

namespace candor {

// The merges of a file, found by the texts of their two halves. Views into the file; nothing is copied.
class MergeTable {
 public:
  // InvalidArgument when an entry is not two parts with a space between them.
  static Result<MergeTable> Read(const ModelFile& file);

  // The rank (smaller merges first) of the pair, or kNoMerge. `left` and `right` lie side by side.
  uint32_t Rank(std::string_view left, std::string_view right) const;

 private:
  std::span<const std::string_view> merges_;
  HashIndex index_;
  size_t longest_ = 0;
};

class BpeTokenizer final : public VocabularyTokenizer {
 public:
  static Result<std::unique_ptr<const Tokenizer>> Load(std::unique_ptr<const Vocabulary> vocabulary);
  std::string_view model_name() const override { return "gpt2"; }
  bool strips_leading_space() const override { return false; }

 private:
  BpeTokenizer(std::unique_ptr<const Vocabulary> vocabulary, PreTokenizer pre_tokenizer, MergeTable merges);
  Status EncodeText(std::string_view text, bool after_special, std::vector<TokenId>& ids) const override;
  std::string PlainBytes(TokenId id) const override;
  void EncodeWord(std::string_view bytes, std::string& word, MergeLoop& loop, std::vector<TokenId>& ids) const;
  void AppendPiece(std::string_view piece, std::vector<TokenId>& ids) const;

  PreTokenizer pre_tokenizer_;
  MergeTable merges_;
};

}  // namespace candor
