// What a key or a tensor may be called.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace candor {

// DataLoss unless `name` has 1 to `limit` bytes of UTF-8 without control characters.
Status CheckName(std::string_view name, uint64_t limit);

}  // namespace candor
