// Writing a file so that it is there whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace candor {

// Bytes go into a temporary file beside the target; Commit() makes them durable and renames it over the target. Without
// a Commit, or after an error, the target is as it was and the temporary file is gone. A target that is a device or
// pipe is written directly; one that is a symbolic link keeps being one. Errors: PermissionDenied, NotFound (no such
// folder), ResourceExhausted (disk full, quota), … One thread at a time.
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status Append(std::span<const std::byte> bytes);
  Status Commit();  // at most once, last

 private:
  AtomicFile() = default;
  void Discard();
  std::string path_;       // as the caller named it, for messages
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // empty: writing to a device
  int fd_ = -1;
};

// Both steps at once.
Status WriteFileAtomically(const std::string& path, std::span<const std::byte> content);
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace candor
