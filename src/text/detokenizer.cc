#include "text/detokenizer.h"

#include "text/utf8.h"

namespace candor {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool render_special)
    : tokenizer_(tokenizer), render_special_(render_special), at_start_(tokenizer.strips_leading_space()) {}

std::string Detokenizer::Push(TokenId id) {
  std::string bytes = tokenizer_.TokenBytes(id, render_special_);
  if (at_start_ && !bytes.empty()) {
    if (bytes.front() == ' ') bytes.erase(0, 1);
    at_start_ = false;
  }
  pending_ += bytes;
  std::string complete;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const Utf8Unit unit = NextUtf8(rest);
    if (unit.cut_off) break;
    complete += unit.valid ? rest.substr(0, unit.size) : kReplacementCharacter;
    rest.remove_prefix(unit.size);
  }
  pending_ = std::string(rest);
  return complete;
}

std::string Detokenizer::Flush() {
  std::string rest = ReplaceInvalidUtf8(pending_, ReplaceUnit::kPart);
  pending_.clear();
  return rest;
}

}  // namespace candor
