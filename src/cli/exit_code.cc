#include "cli/exit_code.h"

namespace candor::cli {
namespace {

// The codes that mean the same wherever they come from.
ExitCode CodeOf(StatusCode code, ExitCode otherwise) {
  switch (code) {
    case StatusCode::kOk:
      return ExitCode::kOk;
    case StatusCode::kResourceExhausted:
      return ExitCode::kMemory;
    case StatusCode::kDeadlineExceeded:
      return ExitCode::kDeadline;
    case StatusCode::kCancelled:
      return ExitCode::kCancelled;
    case StatusCode::kDataLoss:
      return ExitCode::kModelFile;
    case StatusCode::kInternal:
      return ExitCode::kInternal;
    default:
      return otherwise;
  }
}

}  // namespace

Outcome RunFailure(const Status& status) {
  const ExitCode otherwise = status.code() == StatusCode::kInvalidArgument ? ExitCode::kUsage : ExitCode::kFailed;
  return {CodeOf(status.code(), otherwise), status.message()};
}

Outcome LoadFailure(const Status& status) {
  const ExitCode otherwise = status.code() == StatusCode::kUnavailable ? ExitCode::kDevice : ExitCode::kModelFile;
  return {CodeOf(status.code(), otherwise), status.message()};
}

Outcome StreamFailure(const Status& status) { return {CodeOf(status.code(), ExitCode::kFailed), status.message()}; }

}  // namespace candor::cli
