// The --ids of `run` and `logits`: token ids given as numbers, used as they are.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "text/tokenizer.h"

namespace candor::cli {

// Usage errors: not a list of numbers, an empty list.
Outcome ParseTokenIds(const std::string& text, std::vector<TokenId>& ids);
// Usage error for an id that the model does not have.
Outcome CheckTokenIds(const std::vector<TokenId>& ids, uint32_t vocabulary);

// The run fails when a prompt is longer than the context; both numbers are named.
Outcome CheckPromptFits(size_t tokens, int64_t context);

}  // namespace candor::cli
