// A read-only memory mapping of a whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace candor {

class MappedFile {
 public:
  // NotFound, PermissionDenied, InvalidArgument (directory, not a regular file, empty), Unavailable (mapping failed).
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  void WillNeed(uint64_t offset, uint64_t length) const;  // read-ahead hint
  void Drop(uint64_t offset, uint64_t length) const;      // whole pages inside the range leave this process's memory
  Status CheckUnchanged() const;                          // DataLoss when the file is now shorter than the mapping

 private:
  MappedFile() = default;
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  int fd_ = -1;
};

}  // namespace candor
