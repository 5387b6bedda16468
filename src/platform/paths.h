// Where Candor keeps files.
#pragma once

#include <string>

#include "base/status.h"
#include "platform/environment.h"

namespace candor {

// ${XDG_CACHE_HOME:-~/.cache}/candor, whether it exists or not. FailedPrecondition when neither variable is set.
Result<std::string> CacheDirectory(const Environment& environment);

// Makes the folder and its parents. InvalidArgument when something else has that name; PermissionDenied,
// ResourceExhausted.
Status MakeDirectories(const std::string& path);

}  // namespace candor
