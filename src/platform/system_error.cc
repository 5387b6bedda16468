#include "platform/system_error.h"

#include <cerrno>
#include <system_error>

namespace candor {
namespace {

StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return StatusCode::kResourceExhausted;
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
      return StatusCode::kInvalidArgument;
    default:
      return StatusCode::kUnavailable;
  }
}

}  // namespace

Status FileError(std::string_view path, std::string_view action, int error_number) {
  return Status(CodeOf(error_number),
                fmt::format("{}: cannot {}: {}", path, action, std::generic_category().message(error_number)));
}

}  // namespace candor
