#include "text/utf8.h"

#include <cstdint>

namespace candor {
namespace {

// Lead byte → length and the allowed range of the second byte; the others are 80..BF.
struct LeadRule {
  uint8_t size, second_low, second_high;
};

LeadRule RuleOf(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Unit NextUtf8(std::string_view text) {
  if (text.empty()) return {};
  const LeadRule rule = RuleOf(static_cast<uint8_t>(text[0]));
  if (rule.size == 0) return {1, false, false};
  for (size_t i = 1; i < rule.size; ++i) {
    if (i == text.size()) return {i, false, true};
    const auto byte = static_cast<uint8_t>(text[i]);
    const uint8_t low = i == 1 ? rule.second_low : 0x80;
    const uint8_t high = i == 1 ? rule.second_high : 0xBF;
    if (byte < low || byte > high) return {i, false, false};
  }
  return {rule.size, true, false};
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Unit unit = NextUtf8(text);
    if (!unit.valid) return false;
    text.remove_prefix(unit.size);
  }
  return true;
}

std::string ReplaceInvalidUtf8(std::string_view text, ReplaceUnit replace) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Unit unit = NextUtf8(text);
    if (unit.valid) {
      out.append(text.substr(0, unit.size));
    } else {
      const size_t count = replace == ReplaceUnit::kByte ? unit.size : 1;
      for (size_t i = 0; i < count; ++i) out.append(kReplacementCharacter);
    }
    text.remove_prefix(unit.size);
  }
  return out;
}

void AppendUtf8(std::string& out, char32_t code_point) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const uint32_t c = code_point;
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace candor
