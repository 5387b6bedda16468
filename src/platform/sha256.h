// SHA-256 of files, by OpenSSL's libcrypto.
#pragma once

#include <string>

#include "base/status.h"

namespace candor {

// 64 lowercase hexadecimal digits. Errors: as MappedFile::Open, but an empty file has a hash. Reads in pieces; thread
// safe.
Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace candor
