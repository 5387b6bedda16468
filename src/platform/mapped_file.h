// A whole file for reading: mapped into memory, and readable by offset without touching the mapping.
//
// A file may shrink while it is open. A read through bytes() behind its new end would then be a SIGBUS, which a library
// cannot turn into an error without owning the process's signal handlers. So: everything that can take an error reads
// with ReadAt(), which gives DataLoss; bytes() is for hints, tests and callers that accept the risk after
// CheckUnchanged() (which only narrows the window). A file that is overwritten in place keeps its size and cannot be
// noticed either way.
//
// Thread safe: nothing changes after opening.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace candor {

class MappedFile {
 public:
  // NotFound, PermissionDenied, InvalidArgument (directory, not a regular file, empty), ResourceExhausted, Unavailable
  // (mapping failed).
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  // A "file" whose content is `content`; `name` stands for its path in messages. For tests and fuzzing.
  static std::shared_ptr<const MappedFile> FromMemory(std::string name, std::vector<std::byte> content);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Is this a file on disk? Then the mapping may fault when the file shrinks.
  bool on_disk() const { return fd_ >= 0; }

  // Copies [offset, offset + out.size()) of the file into `out` with pread. DataLoss when the file has no such bytes
  // (any more), Unavailable on a read error. Never faults.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  void WillNeed(uint64_t offset, uint64_t length) const;  // read-ahead hint
  void Drop(uint64_t offset, uint64_t length) const;      // whole pages inside the range leave this process's memory
  Status CheckUnchanged() const;                          // DataLoss when the file is now shorter than the mapping

 private:
  MappedFile() = default;
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  int fd_ = -1;
  std::vector<std::byte> memory_;  // FromMemory only
};

}  // namespace candor
