#include "text/bpe_tokenizer.h"

#include <array>

#include "text/utf8.h"

namespace candor {
namespace {

// GPT-2's printable characters: a printable Latin-1 byte is itself, the others are U+0100 and up, in order.
class ByteCharacters {
 public:
  constexpr ByteCharacters() {
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      const int character = printable ? byte : next++;
      characters_[byte] = static_cast<uint16_t>(character);
      bytes_[character] = static_cast<int16_t>(byte);
    }
  }
  // Appends the character of `byte` as UTF-8 and returns its size, 1 or 2.
  uint32_t Append(uint8_t byte, std::string& out) const {
    const uint16_t c = characters_[byte];
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
      return 1;
    }
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    return 2;
  }
  // The byte of a two-byte or one-byte character; -1: not one of them.
  int ByteOf(std::string_view character) const {
    if (character.size() > 2) return -1;
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(character[i]); };
    const size_t c = character.size() == 1 ? byte(0) : (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    return c < bytes_.size() ? bytes_[c] : -1;
  }

 private:
  static constexpr std::array<int16_t, 512> AllUnknown() {
    std::array<int16_t, 512> bytes{};
    for (int16_t& byte : bytes) byte = -1;
    return bytes;
  }
  std::array<uint16_t, 256> characters_{};
  std::array<int16_t, 512> bytes_ = AllUnknown();
};
constexpr ByteCharacters kByteCharacters;

uint64_t HashPair(std::string_view left, std::string_view right) {
  return MixHash(HashString(left), HashString(right));
}

}  // namespace

Result<MergeTable> MergeTable::Read(const ModelFile& file) {
  MergeTable table;
  CANDOR_ASSIGN_OR_RETURN(table.merges_, file.GetStrings("tokenizer.ggml.merges"));
  table.index_.Reserve(table.merges_.size());
  for (uint32_t i = 0; i < table.merges_.size(); ++i) {
    const std::string_view merge = table.merges_[i];
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) {
      return InvalidArgumentError(
          "tokenizer.ggml.merges: expected two parts with a space between them, got '{}' at {}; the file's vocabulary "
          "is broken",
          ReplaceInvalidUtf8(merge.substr(0, 60), ReplaceUnit::kPart), i);
    }
    table.longest_ = std::max(table.longest_, merge.size() - 1);
    table.index_.Insert(HashPair(merge.substr(0, space), merge.substr(space + 1)), i,
                        [&](uint32_t other) { return table.merges_[other] == merge; });
  }
  return table;
}

uint32_t MergeTable::Rank(std::string_view left, std::string_view right) const {
  const size_t size = left.size() + right.size();
  if (size > longest_) return kNoMerge;
  const uint32_t index = index_.Find(HashPair(left, right), [&](uint32_t other) {
    const std::string_view merge = merges_[other];
    return merge.size() == size + 1 && merge[left.size()] == ' ' && merge.starts_with(left) && merge.ends_with(right);
  });
  static_assert(HashIndex::kNone == kNoMerge);
  return index;
}

BpeTokenizer::BpeTokenizer(std::unique_ptr<const Vocabulary> vocabulary, PreTokenizer pre_tokenizer, MergeTable merges)
    : VocabularyTokenizer(std::move(vocabulary)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      merges_(std::move(merges)) {}

Result<std::unique_ptr<const Tokenizer>> BpeTokenizer::Load(std::unique_ptr<const Vocabulary> vocabulary) {
  constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
  const ModelFile& file = vocabulary->file();
  if (file.FindMetadata(kPreKey) == nullptr) {
    return NotFoundError(
        "{}: expected the name of a pre-tokenizer, got no such key; convert the model with a current converter",
        kPreKey);
  }
  CANDOR_ASSIGN_OR_RETURN(const std::string_view name, file.GetString(kPreKey));
  CANDOR_ASSIGN_OR_RETURN(PreTokenizer pre_tokenizer, PreTokenizer::ByName(name));
  CANDOR_ASSIGN_OR_RETURN(MergeTable merges, MergeTable::Read(file));
  const bool add_bos = pre_tokenizer.rule().add_bos;
  std::unique_ptr<BpeTokenizer> tokenizer(
      new BpeTokenizer(std::move(vocabulary), std::move(pre_tokenizer), std::move(merges)));
  CANDOR_RETURN_IF_ERROR(tokenizer->ReadAddSpecial(add_bos));
  return std::unique_ptr<const Tokenizer>(std::move(tokenizer));
}

Status BpeTokenizer::EncodeText(std::string_view text, bool /*after_special*/, std::vector<TokenId>& ids) const {
  std::string repaired;
  if (!IsUtf8(text)) {
    repaired = ReplaceInvalidUtf8(text, ReplaceUnit::kByte);
    text = repaired;
  }
  CANDOR_ASSIGN_OR_RETURN(const std::vector<uint32_t> ends, pre_tokenizer_.Split(text));
  std::string word;
  MergeLoop loop;
  size_t begin = 0;
  for (const uint32_t end : ends) {
    EncodeWord(text.substr(begin, end - begin), word, loop, ids);
    begin = end;
  }
  return OkStatus();
}

void BpeTokenizer::EncodeWord(std::string_view bytes, std::string& word, MergeLoop& loop,
                              std::vector<TokenId>& ids) const {
  word.clear();
  loop.Clear();
  for (const char byte : bytes) {
    const auto begin = static_cast<uint32_t>(word.size());
    loop.Add(begin, kByteCharacters.Append(static_cast<uint8_t>(byte), word));
  }
  if (pre_tokenizer_.rule().ignore_merges) {
    if (const TokenId id = vocabulary().FindPlain(word); id >= 0) {
      ids.push_back(id);
      return;
    }
  }
  loop.Run(word, [this](std::string_view left, std::string_view right) { return merges_.Rank(left, right); });
  loop.ForEach(word, [&](std::string_view piece) { AppendPiece(piece, ids); });
}

// A piece that is no token falls apart into the tokens of its characters; a byte that the vocabulary lacks is left out
// (llama.cpp's rule: vocabularies that lack bytes were trained so).
void BpeTokenizer::AppendPiece(std::string_view piece, std::vector<TokenId>& ids) const {
  if (const TokenId id = vocabulary().FindPlain(piece); id >= 0) {
    ids.push_back(id);
    return;
  }
  while (!piece.empty()) {
    const size_t size = NextUtf8(piece).size;
    if (const TokenId id = vocabulary().FindPlain(piece.substr(0, size)); id >= 0) ids.push_back(id);
    piece.remove_prefix(size);
  }
}

std::string BpeTokenizer::PlainBytes(TokenId id) const {
  std::string bytes;
  std::string_view text = vocabulary().Text(id);
  while (!text.empty()) {
    const std::string_view character = text.substr(0, NextUtf8(text).size);
    const int byte = kByteCharacters.ByteOf(character);
    if (byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
    } else {
      bytes.append(character);
    }
    text.remove_prefix(character.size());
  }
  return bytes;
}

}  // namespace candor
