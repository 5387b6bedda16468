#include "base/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace candor {

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  const std::string text = fmt::format("{}:{}: check failed: {}: {}", file, line, condition, message);
#ifdef NDEBUG
  throw CheckFailure(text);
#else
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
#endif
}

}  // namespace candor
