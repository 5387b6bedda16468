// Detokenizer: incremental decoding of one reply. Push never returns half a UTF-8 character; invalid bytes come out as
// U+FFFD.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace candor {

class Detokenizer {
 public:
  // The tokenizer must outlive it. SPM models with add_space_prefix decode the first token without its space.
  explicit Detokenizer(const Tokenizer& tokenizer, bool render_special = false);

  std::string Push(TokenId id);  // the text that is complete after this token; may be empty
  std::string Flush();           // what is left at the end of the reply (a cut-off character becomes U+FFFD)

 private:
  const Tokenizer& tokenizer_;
  bool render_special_;
  bool at_start_ = true;
  std::string pending_;
};

}  // namespace candor
