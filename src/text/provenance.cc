#include "text/provenance.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "text/utf8.h"

namespace candor {
namespace {

constexpr char32_t kFirstStandIn = 0x100000;  // plane 16, private use
constexpr char32_t kLastStandIn = 0x10FFFD;

std::string_view FirstCharacter(std::string_view text) { return text.substr(0, NextUtf8(text).size); }

std::string_view LastCharacter(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) --begin;
  return text.substr(begin);
}

// Letters, digits and blanks are left alone in ordinary text: templates change their case and trim them.
bool IsMarkable(std::string_view character) {
  if (character.size() > 1) return true;
  const int c = static_cast<uint8_t>(character[0]);
  return std::isalnum(c) == 0 && std::isspace(c) == 0;
}

// The string literals between {{ }} and {% %}; a quote inside a literal is escaped by a backslash.
std::vector<std::string> StringLiterals(std::string_view source) {
  std::vector<std::string> literals;
  bool in_code = false;
  for (size_t i = 0; i + 1 < source.size(); ++i) {
    if (!in_code) {
      in_code = source[i] == '{' && (source[i + 1] == '{' || source[i + 1] == '%');
      if (in_code) ++i;
      continue;
    }
    if ((source[i] == '}' || source[i] == '%') && source[i + 1] == '}') {
      in_code = false;
      ++i;
      continue;
    }
    if (source[i] != '\'' && source[i] != '"') continue;
    const char quote = source[i];
    std::string literal;
    for (++i; i < source.size() && source[i] != quote; ++i) {
      if (source[i] == '\\' && i + 1 < source.size()) {
        ++i;
        literal += source[i] == 'n' ? '\n' : source[i] == 't' ? '\t' : source[i] == 'r' ? '\r' : source[i];
      } else {
        literal += source[i];
      }
    }
    literals.push_back(std::move(literal));
  }
  return literals;
}

bool ContainsAny(std::string_view text, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return text.find(part) != std::string_view::npos; });
}

void Append(std::vector<TextSegment>& segments, std::string_view text, bool markup) {
  if (segments.empty() || segments.back().markup != markup) segments.push_back({"", markup});
  segments.back().text += text;
}

}  // namespace

Provenance::Provenance(const Tokenizer& tokenizer, std::string_view template_source) {
  std::set<std::string> marked;
  for (const TokenId id : tokenizer.special_tokens()) {
    const std::string_view text = tokenizer.TokenText(id);
    if (tokenizer.MatchesInText(id) || !IsUtf8(text)) continue;
    control_tokens_.emplace_back(text);
    for (const std::string_view character : {FirstCharacter(text), LastCharacter(text)}) marked.emplace(character);
  }
  std::sort(control_tokens_.begin(), control_tokens_.end());
  std::set<size_t, std::greater<>> lengths;
  for (const std::string& token : control_tokens_) lengths.insert(token.size());
  lengths_.assign(lengths.begin(), lengths.end());
  marked_.assign(marked.begin(), marked.end());
  std::set<std::string> literals;
  for (std::string& literal : StringLiterals(template_source)) {
    const bool is_part = std::any_of(control_tokens_.begin(), control_tokens_.end(), [&](const std::string& token) {
      return token.starts_with(literal) || token.ends_with(literal);
    });
    if (!is_part && ContainsAny(literal, marked_)) literals.insert(std::move(literal));
  }
  literals_.assign(literals.begin(), literals.end());
}

Provenance::StandIns Provenance::Choose(std::string_view used) const {
  std::set<char32_t> taken;
  for (std::string_view rest = used; !rest.empty();) {
    const size_t size = NextUtf8(rest).size;
    if (size == 4 && static_cast<uint8_t>(rest[0]) == 0xF4) {
      const auto bits = [&rest](size_t i) { return static_cast<char32_t>(static_cast<uint8_t>(rest[i]) & 0x3F); };
      taken.insert(0x100000 | bits(1) << 12 | bits(2) << 6 | bits(3));
    }
    rest.remove_prefix(size);
  }
  StandIns stand_ins;
  for (char32_t c = kFirstStandIn; c <= kLastStandIn && stand_ins.characters.size() < marked_.size(); ++c) {
    if (taken.contains(c)) continue;
    stand_ins.characters.push_back(c);
    AppendUtf8(stand_ins.all, c);
  }
  return stand_ins;
}

size_t Provenance::ControlTokenSize(std::string_view text) const {
  for (const size_t length : lengths_) {
    if (length > text.size()) continue;
    if (std::binary_search(control_tokens_.begin(), control_tokens_.end(), text.substr(0, length), std::less<>()))
      return length;
  }
  return 0;
}

int Provenance::MarkedIndex(std::string_view character) const {
  const auto found = std::lower_bound(marked_.begin(), marked_.end(), character);
  return found != marked_.end() && *found == character ? static_cast<int>(found - marked_.begin()) : -1;
}

std::vector<bool> Provenance::BytesToKeep(std::string_view text) const {
  std::vector<bool> keep(text.size());
  for (const std::string& literal : literals_) {
    for (size_t at = text.find(literal); at != std::string_view::npos; at = text.find(literal, at + 1)) {
      std::fill(keep.begin() + static_cast<ptrdiff_t>(at), keep.begin() + static_cast<ptrdiff_t>(at + literal.size()),
                true);
    }
  }
  return keep;
}

std::string Provenance::Mark(std::string_view text, const StandIns& stand_ins) const {
  const std::vector<bool> keep = BytesToKeep(text);
  std::string marked;
  size_t token_last = std::string_view::npos;  // where the last character of a control token begins
  for (size_t i = 0; i < text.size();) {
    const std::string_view character = FirstCharacter(text.substr(i));
    const int index = MarkedIndex(character);
    bool in_token = i == token_last;
    if (index >= 0) {
      if (const size_t size = ControlTokenSize(text.substr(i)); size > 0) {
        in_token = true;
        token_last = i + size - LastCharacter(text.substr(i, size)).size();
      }
    }
    if (index >= 0 && (in_token || (!keep[i] && IsMarkable(character)))) {
      AppendUtf8(marked, stand_ins.characters[static_cast<size_t>(index)]);
    } else {
      marked += character;
    }
    i += character.size();
  }
  return marked;
}

std::vector<TextSegment> Provenance::Unmark(std::string_view rendered, const StandIns& stand_ins) const {
  std::string text;
  std::vector<bool> is_text;  // per byte of `text`
  while (!rendered.empty()) {
    const std::string_view character = FirstCharacter(rendered);
    const size_t at = character.size() == 4 ? stand_ins.all.find(character) : std::string::npos;
    text += at == std::string::npos ? character : std::string_view(marked_[at / 4]);
    is_text.resize(text.size(), at != std::string::npos);
    rendered.remove_prefix(character.size());
  }
  std::vector<TextSegment> segments;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const size_t token = is_text[i] ? ControlTokenSize(rest) : 0;
    const size_t size = token > 0 ? token : FirstCharacter(rest).size();
    Append(segments, rest.substr(0, size), !is_text[i]);
    i += size;
  }
  return segments;
}

}  // namespace candor
