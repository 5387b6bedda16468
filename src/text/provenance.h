// Provenance: which characters of a rendered prompt came from a message. A template engine hands out plain strings, so
// the origin travels inside them: before rendering, the first and last characters of what could be a control token (in
// most models '<' and '>') are swapped in message texts for stand-in characters that occur nowhere else; after
// rendering they are swapped back and known to be text. A stand-in is one character, so trimming, slicing, splitting
// and lengths work as they would; texts that the template itself looks for (its string literals, such as '</think>')
// keep their characters, unless they are control tokens or the beginning or end of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace candor {

class Provenance {
 public:
  // Reads the tokenizer's control tokens and the template's string literals. Const afterwards.
  Provenance(const Tokenizer& tokenizer, std::string_view template_source);

  // The characters that stand for markup characters in one rendering.
  struct StandIns {
    std::vector<char32_t> characters;  // one per marked character
    std::string all;                   // the same as UTF-8
  };
  // Characters that do not occur in `used`: everything that goes into the rendering, concatenated. Fewer than the
  // marked characters only when nearly all of plane 16 is in use.
  StandIns Choose(std::string_view used) const;
  bool IsComplete(const StandIns& stand_ins) const { return stand_ins.characters.size() == marked_.size(); }

  // A message's text, valid UTF-8, as it goes into the template.
  std::string Mark(std::string_view text, const StandIns& stand_ins) const;

  // The rendered prompt cut into markup and text.
  std::vector<TextSegment> Unmark(std::string_view rendered, const StandIns& stand_ins) const;

 private:
  // The size of a control token at the front of `text`, 0: none.
  size_t ControlTokenSize(std::string_view text) const;
  int MarkedIndex(std::string_view character) const;  // -1: not a marked character
  std::vector<bool> BytesToKeep(std::string_view text) const;

  std::vector<std::string> control_tokens_;  // sorted
  std::vector<size_t> lengths_;              // of control tokens, descending
  std::vector<std::string> marked_;          // characters that begin or end a control token, sorted
  std::vector<std::string> literals_;        // of the template, with a marked character in them
};

}  // namespace candor
