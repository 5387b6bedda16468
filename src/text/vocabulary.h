// Vocabulary: the token texts of a model file with their kinds, the special ids, and a hash from text to id. Texts are
// views into the model file; a vocabulary of 262k tokens loads in about ten milliseconds. Const after Read; thread
// safe.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/string_hash.h"
#include "text/tokenizer.h"

namespace candor {

struct SpecialIds {
  TokenId bos = -1, eos = -1, eot = -1, eom = -1, unknown = -1;  // -1: none
};

class Vocabulary {
 public:
  // Reads tokenizer.ggml.{tokens, token_type, *_token_id}. Errors name the key.
  static Result<Vocabulary> Read(std::shared_ptr<const ModelFile> file);

  int32_t size() const { return static_cast<int32_t>(texts_.size()); }
  bool Contains(TokenId id) const { return id >= 0 && id < size(); }
  std::string_view Text(TokenId id) const { return Contains(id) ? texts_[id] : std::string_view(); }
  TokenKind Kind(TokenId id) const { return Contains(id) ? kinds_[id] : TokenKind::kUnknown; }

  // -1 when no token has this text. FindPlain sees only what text may become: no control, unknown or byte token.
  TokenId Find(std::string_view text) const;
  TokenId FindPlain(std::string_view text) const;

  size_t longest_text() const { return longest_text_; }
  const SpecialIds& special_ids() const { return special_ids_; }
  const ModelFile& file() const { return *file_; }
  // Control, unknown and user-defined tokens, ascending.
  std::span<const TokenId> special_tokens() const { return special_tokens_; }
  bool IsEndOfGeneration(TokenId id) const;
  // Is it cut out of any text? User-defined tokens are, but not those whose text ends a reply in some model family: a
  // user may type that (llama.cpp's rule). The other special tokens match in markup only.
  bool MatchesInText(TokenId id) const;

 private:
  Status ReadKinds();
  Status ReadSpecialIds();
  void IndexTexts();
  void CollectEndMarkers();

  std::shared_ptr<const ModelFile> file_;
  std::span<const std::string_view> texts_;
  std::vector<TokenKind> kinds_;
  HashIndex index_;
  size_t longest_text_ = 0;
  SpecialIds special_ids_;
  std::vector<TokenId> special_tokens_;
  std::vector<TokenId> end_of_generation_;
};

}  // namespace candor
