#include "cli/token_ids.h"

#include <limits>

#include "cli/number.h"

namespace candor::cli {

Outcome ParseTokenIds(const std::string& text, std::vector<TokenId>& ids) {
  const auto values = ParseIntegerList(text, 0, std::numeric_limits<TokenId>::max());
  if (!values.ok()) return UsageError("--ids: {}", values.status().message());
  ids.assign(values->begin(), values->end());
  return {};
}

Outcome CheckTokenIds(const std::vector<TokenId>& ids, uint32_t vocabulary) {
  for (const TokenId id : ids) {
    if (static_cast<uint32_t>(id) >= vocabulary) {
      return UsageError("--ids: expected token ids from 0 to {}, got {}; list them with candor tokenize",
                        vocabulary - 1, id);
    }
  }
  return {};
}

Outcome CheckPromptFits(size_t tokens, int64_t context) {
  if (static_cast<int64_t>(tokens) <= context) return {};
  return {ExitCode::kFailed,
          fmt::format("prompt: expected at most the {} tokens of the context, got {}; shorten it or raise the context "
                      "with -c",
                      context, tokens)};
}

}  // namespace candor::cli
