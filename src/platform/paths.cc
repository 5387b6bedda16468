#include "platform/paths.h"

#include <filesystem>
#include <system_error>

#include "platform/system_error.h"

namespace candor {

Result<std::string> CacheDirectory(const Environment& environment) {
  if (environment.xdg_cache_home) return *environment.xdg_cache_home + "/candor";
  if (environment.home) return *environment.home + "/.cache/candor";
  return FailedPreconditionError(
      "cache folder: expected HOME or XDG_CACHE_HOME to be set, got neither; set one of them");
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FileError(path, "make this folder", error.value());
  if (!std::filesystem::is_directory(path, error))
    return InvalidArgumentError("{}: expected a folder, got a file; move it away", path);
  return OkStatus();
}

}  // namespace candor
