// What a command ends with: the exit codes of the program, and how a Status becomes one.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/status.h"

namespace candor::cli {

enum class ExitCode {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kDevice = 3,
  kModelFile = 4,
  kMemory = 5,
  kDeadline = 6,
  kCancelled = 7,
  kInternal = 70,
};

inline constexpr const char* kExitCodeHelp =
    "Exit codes: 0 ok, 1 the run failed, 2 bad usage, 3 device unavailable, 4 bad model file,\n"
    "5 out of memory, 6 deadline, 7 cancelled, 70 internal error.";

// The message is one sentence for stderr; empty when there is nothing to say.
struct [[nodiscard]] Outcome {
  ExitCode code = ExitCode::kOk;
  std::string message;

  bool ok() const { return code == ExitCode::kOk; }
};

template <typename... Args>
Outcome UsageError(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::kUsage, fmt::format(format, std::forward<Args>(args)...)};
}

// A failure of the run itself, and one met while a model file was opened or loaded: there a wrong argument means a bad
// file.
Outcome RunFailure(const Status& status);
Outcome LoadFailure(const Status& status);
// And one of a file or standard stream that the command reads or writes.
Outcome StreamFailure(const Status& status);

#define CANDOR_CLI_RETURN_IF_FAILED(expression)            \
  do {                                                     \
    ::candor::cli::Outcome candor_outcome_ = (expression); \
    if (!candor_outcome_.ok()) return candor_outcome_;     \
  } while (false)

}  // namespace candor::cli
