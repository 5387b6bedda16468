// UTF-8 pieces that the tokenizers and the detokenizer share (Unicode 16, table 3-7: no overlong forms, no surrogates).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace candor {

// The front of a text: a well-formed character, or the longest ill-formed part that U+FFFD stands for (Unicode 16,
// section 3.9).
struct Utf8Unit {
  size_t size = 0;  // bytes; 0 only at the end of the text
  bool valid = false;
  bool cut_off = false;  // ill-formed only because the text ends: more bytes could complete it
};
Utf8Unit NextUtf8(std::string_view text);

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

bool IsUtf8(std::string_view text);

// Each ill-formed part (`kPart`), or each byte of one (`kByte`), becomes U+FFFD.
enum class ReplaceUnit { kPart, kByte };
std::string ReplaceInvalidUtf8(std::string_view text, ReplaceUnit unit);

void AppendUtf8(std::string& out, char32_t code_point);

}  // namespace candor
