// Tokenizer: text to token ids and back, built from a model file's vocabulary. Const after Load; thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/model_file.h"

namespace candor {

using TokenId = int32_t;

enum class TokenKind : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct EncodeOptions {
  bool add_special = true;     // BOS/EOS as the file says (key absent: BOS for SPM, none for BPE)
  bool parse_special = false;  // text of control tokens becomes the control token; user-defined tokens always match
};

// A piece of a rendered prompt. In a user's text nothing is special; in a template's own markup control tokens are
// parsed.
struct TextSegment {
  std::string text;
  bool markup = false;
};

class Tokenizer {
 public:
  // Errors name the key: NotFound (no vocabulary), Unimplemented (unknown tokenizer.ggml.model or tokenizer.ggml.pre,
  // with its name and the known ones), InvalidArgument (mistyped keys, ids out of range, broken merges).
  static Result<std::unique_ptr<const Tokenizer>> Load(std::shared_ptr<const ModelFile> file);
  virtual ~Tokenizer() = default;

  // Any bytes are accepted. Bytes that are not UTF-8 become byte tokens (SPM) or each is read as U+FFFD (byte-level
  // BPE).
  virtual Result<std::vector<TokenId>> Encode(std::string_view text, const EncodeOptions& options) const = 0;
  // Encodes the segments as one text: words merge across segments, and a control token matches only where all of it is
  // markup. BOS is added as the file says unless the markup already begins with it.
  virtual Result<std::vector<TokenId>> EncodeSegments(std::span<const TextSegment> segments,
                                                      bool add_special) const = 0;

  // The bytes that a token stands for (may be part of a UTF-8 character); empty for control tokens unless
  // `render_special`.
  virtual std::string TokenBytes(TokenId id, bool render_special) const = 0;
  // The text of a whole reply: invalid UTF-8 becomes U+FFFD. Ids that the vocabulary does not have are left out.
  std::string Decode(std::span<const TokenId> ids, bool render_special) const;

  virtual TokenKind Kind(TokenId id) const = 0;
  virtual int32_t vocabulary_size() const = 0;
  virtual bool IsEndOfGeneration(TokenId id) const = 0;  // eos, eot, eom and tokens whose text is a known end marker
  virtual TokenId bos() const = 0;                       // -1: none
  virtual TokenId eos() const = 0;
  virtual std::string_view TokenText(TokenId id) const = 0;     // as stored in the file
  virtual std::span<const TokenId> special_tokens() const = 0;  // control, unknown and user-defined tokens, ascending
  virtual bool MatchesInText(TokenId id) const = 0;  // cut out of any text; the other special tokens in markup only
  virtual bool strips_leading_space() const = 0;     // a text's first space is the tokenizer's own, not the text's
  virtual std::string_view model_name() const = 0;   // "gpt2", "llama"
};

}  // namespace candor
