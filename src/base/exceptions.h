// Exceptions become statuses where the engine meets its caller or a thread ends: no exception leaves the library.
#pragma once

#include <exception>

#include "base/status.h"

namespace candor {

// CheckFailure: Internal, a bug in Candor. std::bad_alloc: ResourceExhausted. Anything else: Internal. `who` begins the
// sentence. Any thread.
Status StatusOfException(const char* who, const std::exception_ptr& exception);

}  // namespace candor
