// Turns an errno of a file operation into a Status. Private to src/platform.
#pragma once

#include <string_view>

#include "base/status.h"

namespace candor {

// "<path>: cannot <action>: <what the system said>" with the code that fits: NotFound, PermissionDenied,
// ResourceExhausted (no space, quota, file size limit, memory, descriptors), else Unavailable.
Status FileError(std::string_view path, std::string_view action, int error_number);

}  // namespace candor
