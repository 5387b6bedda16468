#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace candor {
namespace {

// Length of the UTF-8 sequence that starts with `lead`, 0 when nothing may start with it.
size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte is where overlong forms, surrogates and code points above U+10FFFF are told apart (Unicode, table
// 3-7).
bool SecondByteFits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0 && second <= 0xBF;
  if (lead == 0xED) return second >= 0x80 && second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90 && second <= 0xBF;
  if (lead == 0xF4) return second >= 0x80 && second <= 0x8F;
  return (second & 0xC0) == 0x80;
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 without one.
size_t WellFormedLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = SequenceLength(lead);
  if (length == 0 || length > text.size()) return 0;
  if (length > 1 && !SecondByteFits(lead, static_cast<unsigned char>(text[1]))) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// C0, DEL, C1 (U+0080 to U+009F) and the separators U+2028 and U+2029.
bool IsControl(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  if (character.size() == 2) return lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
}

}  // namespace

std::string Printable(std::string_view text, size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  if (text.size() > limit) out += "…";
  return out;
}

std::string EscapeControls(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const size_t length = WellFormedLength(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    const bool harmless = length > 0 && (!IsControl(character) || kept.find(character) != std::string_view::npos);
    if (harmless) {
      out += character;
    } else {
      for (const char byte : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    text.remove_prefix(character.size());
  }
  return out;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = WellFormedLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string FormatBytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024.0;
  size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < std::size(kUnits)) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace candor
