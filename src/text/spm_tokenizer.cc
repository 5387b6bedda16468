#include "text/spm_tokenizer.h"

#include <bit>
#include <cmath>

#include "text/utf8.h"

namespace candor {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

// Higher score, smaller priority; the order of the floats.
uint32_t PriorityOf(float score) {
  if (std::isnan(score)) return kNoMerge;
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 becomes +0
  const uint32_t ascending = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return ~ascending;
}

// The value of "<0xXX>", or -1.
int ByteOf(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = digit(text[3]);
  const int low = digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// The size that the first byte of a character promises. An ill-formed character is not repaired: its bytes become byte
// tokens.
uint32_t PromisedSize(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::string MarkSpaces(std::string_view text, bool add_prefix) {
  std::string marked;
  marked.reserve(text.size() + text.size() / 2);
  if (add_prefix) marked += kSpaceMark;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t space = std::min(text.find(' ', begin), text.size());
    marked += text.substr(begin, space - begin);
    if (space < text.size()) marked += kSpaceMark;
    begin = space + 1;
  }
  return marked;
}

}  // namespace

SpmTokenizer::SpmTokenizer(std::unique_ptr<const Vocabulary> vocabulary) : VocabularyTokenizer(std::move(vocabulary)) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    const char text[] = {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
    byte_tokens_[byte] = this->vocabulary().Find({text, sizeof text});
  }
  // SentencePiece's own numbering, for files that do not state it.
  const auto default_id = [this](TokenId& id, TokenId value, TokenKind kind) {
    if (id < 0 && this->vocabulary().Contains(value) && Kind(value) == kind) id = value;
  };
  default_id(ids().unknown, 0, TokenKind::kUnknown);
  default_id(ids().bos, 1, TokenKind::kControl);
  default_id(ids().eos, 2, TokenKind::kControl);
}

Result<std::unique_ptr<const Tokenizer>> SpmTokenizer::Load(std::unique_ptr<const Vocabulary> vocabulary) {
  std::unique_ptr<SpmTokenizer> tokenizer(new SpmTokenizer(std::move(vocabulary)));
  CANDOR_RETURN_IF_ERROR(tokenizer->ReadScores());
  CANDOR_RETURN_IF_ERROR(tokenizer->ReadAddSpecial(true));
  const ModelFile& file = tokenizer->vocabulary().file();
  CANDOR_ASSIGN_OR_RETURN(tokenizer->add_space_prefix_, file.GetBoolOr("tokenizer.ggml.add_space_prefix", true));
  return std::unique_ptr<const Tokenizer>(std::move(tokenizer));
}

Status SpmTokenizer::ReadScores() {
  constexpr std::string_view kKey = "tokenizer.ggml.scores";
  CANDOR_ASSIGN_OR_RETURN(const std::vector<float> scores, vocabulary().file().GetF32Array(kKey));
  const auto size = static_cast<size_t>(vocabulary_size());
  if (scores.size() < size) {
    return InvalidArgumentError("{}: expected a score for each of {} tokens, got {}; the file's vocabulary is broken",
                                kKey, size, scores.size());
  }
  priorities_.resize(size);
  for (size_t i = 0; i < size; ++i) priorities_[i] = PriorityOf(scores[i]);
  return OkStatus();
}

Status SpmTokenizer::EncodeText(std::string_view text, bool after_special, std::vector<TokenId>& ids) const {
  const std::string marked = MarkSpaces(text, add_space_prefix_ && after_special);
  MergeLoop loop;
  for (size_t begin = 0; begin < marked.size();) {
    const auto size = static_cast<uint32_t>(std::min<size_t>(PromisedSize(marked[begin]), marked.size() - begin));
    loop.Add(static_cast<uint32_t>(begin), size);
    begin += size;
  }
  loop.Run(marked, [this](std::string_view left, std::string_view right) {
    const TokenId id = vocabulary().FindPlain({left.data(), left.size() + right.size()});
    return id < 0 ? kNoMerge : priorities_[id];
  });
  Status status;
  loop.ForEach(marked, [&](std::string_view piece) {
    if (status.ok()) status = AppendPiece(piece, ids);
  });
  return status;
}

Status SpmTokenizer::AppendPiece(std::string_view piece, std::vector<TokenId>& ids) const {
  if (const TokenId id = vocabulary().FindPlain(piece); id >= 0) {
    ids.push_back(id);
    return OkStatus();
  }
  for (const char byte : piece) {
    TokenId id = byte_tokens_[static_cast<uint8_t>(byte)];
    if (id < 0) id = vocabulary().FindPlain({&byte, 1});
    if (id < 0 && this->ids().unknown >= 0) {
      ids.push_back(this->ids().unknown);
      return OkStatus();
    }
    if (id < 0) {
      return InvalidArgumentError(
          "tokenizer.ggml.tokens: expected a token for byte 0x{:02X} or an unknown token, got neither; the file's "
          "vocabulary is broken",
          static_cast<uint8_t>(byte));
    }
    ids.push_back(id);
  }
  return OkStatus();
}

std::string SpmTokenizer::PlainBytes(TokenId id) const {
  const std::string_view text = vocabulary().Text(id);
  if (Kind(id) == TokenKind::kByte) {
    const int byte = ByteOf(text);
    return byte < 0 ? std::string(text) : std::string(1, static_cast<char>(byte));
  }
  std::string bytes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t mark = std::min(text.find(kSpaceMark, begin), text.size());
    bytes += text.substr(begin, mark - begin);
    if (mark < text.size()) bytes += ' ';
    begin = mark < text.size() ? mark + kSpaceMark.size() : text.size() + 1;
  }
  return bytes;
}

}  // namespace candor
