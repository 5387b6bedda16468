#include "text/vocabulary.h"

#include <algorithm>

namespace candor {
namespace {

// Texts that end a reply in some model family, whatever its file calls eos.
constexpr std::string_view kEndMarkers[] = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<|end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "</s>",
    "<|return|>",
    "<|call|>",
    "<EOT>",
    "[EOT]",
    "[EOS]",
    "<eos>",
    "<turn|>",
    "<｜end▁of▁sentence｜>",
};

bool IsEndMarker(std::string_view text) {
  return std::find(std::begin(kEndMarkers), std::end(kEndMarkers), text) != std::end(kEndMarkers);
}

bool IsSpecial(TokenKind kind) {
  return kind == TokenKind::kControl || kind == TokenKind::kUnknown || kind == TokenKind::kUserDefined;
}

}  // namespace

Result<Vocabulary> Vocabulary::Read(std::shared_ptr<const ModelFile> file) {
  Vocabulary vocabulary;
  vocabulary.file_ = std::move(file);
  CANDOR_ASSIGN_OR_RETURN(vocabulary.texts_, vocabulary.file_->GetStrings("tokenizer.ggml.tokens"));
  constexpr size_t kMostTokens = size_t{1} << 24;
  if (vocabulary.texts_.empty() || vocabulary.texts_.size() > kMostTokens) {
    return InvalidArgumentError(
        "tokenizer.ggml.tokens: expected 1 to {} tokens, got {}; the file's vocabulary is broken", kMostTokens,
        vocabulary.texts_.size());
  }
  CANDOR_RETURN_IF_ERROR(vocabulary.ReadKinds());
  CANDOR_RETURN_IF_ERROR(vocabulary.ReadSpecialIds());
  vocabulary.IndexTexts();
  vocabulary.CollectEndMarkers();
  return vocabulary;
}

Status Vocabulary::ReadKinds() {
  constexpr std::string_view kKey = "tokenizer.ggml.token_type";
  kinds_.assign(texts_.size(), TokenKind::kNormal);
  if (file_->FindMetadata(kKey) == nullptr) return OkStatus();
  CANDOR_ASSIGN_OR_RETURN(const std::vector<int32_t> types, file_->GetI32Array(kKey));
  if (types.size() < texts_.size()) {
    return InvalidArgumentError("{}: expected one entry for each of {} tokens, got {}; the file's vocabulary is broken",
                                kKey, texts_.size(), types.size());
  }
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const int32_t type = types[i];
    if (type < 0 || type > 6) {
      return InvalidArgumentError("{}: expected 0 to 6, got {} for token {}; the file's vocabulary is broken", kKey,
                                  type, i);
    }
    if (type != 0) kinds_[i] = static_cast<TokenKind>(type);
    if (IsSpecial(kinds_[i]) && !texts_[i].empty()) special_tokens_.push_back(static_cast<TokenId>(i));
  }
  return OkStatus();
}

Status Vocabulary::ReadSpecialIds() {
  const struct {
    std::string_view key;
    TokenId& id;
  } entries[] = {
      {"tokenizer.ggml.bos_token_id", special_ids_.bos},         {"tokenizer.ggml.eos_token_id", special_ids_.eos},
      {"tokenizer.ggml.eot_token_id", special_ids_.eot},         {"tokenizer.ggml.eom_token_id", special_ids_.eom},
      {"tokenizer.ggml.unknown_token_id", special_ids_.unknown},
  };
  for (const auto& [key, id] : entries) {
    if (file_->FindMetadata(key) == nullptr) continue;
    CANDOR_ASSIGN_OR_RETURN(const uint32_t value, file_->GetU32(key));
    if (value >= texts_.size()) {
      return InvalidArgumentError(
          "{}: expected an id below the vocabulary's {}, got {}; the file's vocabulary is broken", key, texts_.size(),
          value);
    }
    id = static_cast<TokenId>(value);
  }
  return OkStatus();
}

void Vocabulary::IndexTexts() {
  index_.Reserve(texts_.size());
  for (uint32_t i = 0; i < texts_.size(); ++i) {
    const std::string_view text = texts_[i];
    if (text.empty()) continue;
    longest_text_ = std::max(longest_text_, text.size());
    index_.Insert(HashString(text), i, [&](uint32_t other) { return texts_[other] == text; });
  }
}

void Vocabulary::CollectEndMarkers() {
  for (const TokenId id : {special_ids_.eos, special_ids_.eot, special_ids_.eom}) {
    if (id >= 0) end_of_generation_.push_back(id);
  }
  for (const std::string_view marker : kEndMarkers) {
    const TokenId id = Find(marker);
    // A user-defined </s> is HTML's end of struck-out text (Gemma), not the end of a reply.
    if (id >= 0 && IsSpecial(Kind(id)) && (marker != "</s>" || Kind(id) == TokenKind::kControl))
      end_of_generation_.push_back(id);
  }
}

TokenId Vocabulary::Find(std::string_view text) const {
  if (text.empty() || text.size() > longest_text_) return -1;
  const uint32_t index = index_.Find(HashString(text), [&](uint32_t other) { return texts_[other] == text; });
  return index == HashIndex::kNone ? -1 : static_cast<TokenId>(index);
}

TokenId Vocabulary::FindPlain(std::string_view text) const {
  const TokenId id = Find(text);
  if (id < 0) return -1;
  const TokenKind kind = kinds_[id];
  return kind == TokenKind::kControl || kind == TokenKind::kUnknown || kind == TokenKind::kByte ? -1 : id;
}

bool Vocabulary::MatchesInText(TokenId id) const {
  return Kind(id) == TokenKind::kUserDefined && !IsEndMarker(Text(id));
}

bool Vocabulary::IsEndOfGeneration(TokenId id) const {
  return std::find(end_of_generation_.begin(), end_of_generation_.end(), id) != end_of_generation_.end();
}

}  // namespace candor
