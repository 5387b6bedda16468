#include "base/exceptions.h"

#include <new>

namespace candor {

Status StatusOfException(const char* who, const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("{}: out of memory; use a smaller model or context", who);
  } catch (const std::exception& error) {
    return InternalError("{}: {}; this is a bug in Candor, please report it", who, error.what());
  } catch (...) {
    return InternalError("{}: an exception of an unknown type; this is a bug in Candor, please report it", who);
  }
}

}  // namespace candor
