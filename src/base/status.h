// Status and Result: how every fallible call in Candor reports failure. No exceptions cross a function boundary for bad
// input. Wording of a message: "<where>: expected …, got …; <what to do>".
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace candor {

enum class StatusCode {
  kOk,
  kInvalidArgument,
  kNotFound,
  kFailedPrecondition,
  kPermissionDenied,
  kUnavailable,
  kResourceExhausted,
  kDeadlineExceeded,
  kCancelled,
  kDataLoss,
  kUnimplemented,
  kInternal,
};

// The code's name as printed, e.g. "InvalidArgument".
const char* StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same status with "prefix: " before its message; Ok stays Ok.
  Status WithContext(std::string_view prefix) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }

// One maker per code: InvalidArgumentError("key '{}': expected u32, got {}", key, type).
#define CANDOR_STATUS_MAKER(Name)                                                         \
  template <typename... Args>                                                             \
  Status Name##Error(fmt::format_string<Args...> format, Args&&... args) {                \
    return Status(StatusCode::k##Name, fmt::format(format, std::forward<Args>(args)...)); \
  }
CANDOR_STATUS_MAKER(InvalidArgument)
CANDOR_STATUS_MAKER(NotFound)
CANDOR_STATUS_MAKER(FailedPrecondition)
CANDOR_STATUS_MAKER(PermissionDenied)
CANDOR_STATUS_MAKER(Unavailable)
CANDOR_STATUS_MAKER(ResourceExhausted)
CANDOR_STATUS_MAKER(DeadlineExceeded)
CANDOR_STATUS_MAKER(Cancelled)
CANDOR_STATUS_MAKER(DataLoss)
CANDOR_STATUS_MAKER(Unimplemented)
CANDOR_STATUS_MAKER(Internal)
#undef CANDOR_STATUS_MAKER

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor): return value;
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor): return status;

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

#define CANDOR_CONCAT_INNER(a, b) a##b
#define CANDOR_CONCAT(a, b) CANDOR_CONCAT_INNER(a, b)

#define CANDOR_RETURN_IF_ERROR(expression)           \
  do {                                               \
    ::candor::Status candor_status_ = (expression);  \
    if (!candor_status_.ok()) return candor_status_; \
  } while (false)

// CANDOR_ASSIGN_OR_RETURN(auto file, Open(path));
#define CANDOR_ASSIGN_OR_RETURN(declaration, expression) \
  CANDOR_ASSIGN_OR_RETURN_INNER(CANDOR_CONCAT(candor_result_, __LINE__), declaration, expression)
#define CANDOR_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return result.status();                            \
  declaration = std::move(result).value()

}  // namespace candor
