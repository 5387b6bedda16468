// CANDOR_CHECK: for our own bugs only, never for input. A debug build aborts; a release build throws CheckFailure,
// which is caught at the engine's boundary and becomes StatusCode::kInternal, so that the caller's process lives.
#pragma once

#include <stdexcept>
#include <string>

namespace candor {

class CheckFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace candor

#define CANDOR_CHECK(condition, message)                                \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      ::candor::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
