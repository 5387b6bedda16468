#include "platform/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/checked_math.h"
#include "platform/system_error.h"

namespace candor {
namespace {

Status CheckIsReadableFile(const std::string& path, const struct stat& info) {
  if (S_ISDIR(info.st_mode))
    return InvalidArgumentError("{}: expected a file, got a directory; name the file inside it", path);
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgumentError("{}: expected a regular file, got a device, pipe or socket; save it to a file first",
                                path);
  }
  if (info.st_size == 0)
    return InvalidArgumentError("{}: expected a file with content, got an empty file; fetch it again", path);
  return OkStatus();
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  if (path.empty()) return InvalidArgumentError("expected the path of a file, got an empty path");
  if (path.find('\0') != std::string::npos)
    return InvalidArgumentError("expected the path of a file, got a path with a NUL byte");
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  file->fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->fd_ < 0) return FileError(path, "open", errno);
  struct stat info = {};
  if (fstat(file->fd_, &info) != 0) return FileError(path, "inspect", errno);
  CANDOR_RETURN_IF_ERROR(CheckIsReadableFile(path, info));
  file->size_ = static_cast<size_t>(info.st_size);
  void* address = mmap(nullptr, file->size_, PROT_READ, MAP_SHARED, file->fd_, 0);
  if (address == MAP_FAILED) return FileError(path, "map into memory", errno);
  file->data_ = static_cast<const std::byte*>(address);
  return std::shared_ptr<const MappedFile>(std::move(file));
}

std::shared_ptr<const MappedFile> MappedFile::FromMemory(std::string name, std::vector<std::byte> content) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = std::move(name);
  file->memory_ = std::move(content);
  file->data_ = file->memory_.data();
  file->size_ = file->memory_.size();
  return file;
}

MappedFile::~MappedFile() {
  if (fd_ < 0) return;
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
  close(fd_);
}

Status MappedFile::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  if (!RangeFits(offset, out.size(), size_)) {
    return DataLossError(
        "{}: expected {} bytes at offset {}, got a file of {} bytes; the file is truncated: fetch it again", path_,
        out.size(), offset, size_);
  }
  if (!on_disk()) {
    if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
    return OkStatus();
  }
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(path_, "read", errno);
    if (got == 0) {
      return DataLossError(
          "{}: expected {} bytes at offset {}, got only {}; the file shrank while it was in use: fetch it again", path_,
          out.size(), offset, done);
    }
    done += static_cast<size_t>(got);
  }
  return OkStatus();
}

void MappedFile::WillNeed(uint64_t offset, uint64_t length) const {
  if (!on_disk() || offset >= size_) return;
  // Of the file, not of the mapping: ReadAt profits as well.
  (void)posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(std::min<uint64_t>(length, size_ - offset)),
                      POSIX_FADV_WILLNEED);
}

void MappedFile::Drop(uint64_t offset, uint64_t length) const {
  if (!on_disk() || offset >= size_) return;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = (offset + page - 1) / page * page;
  const uint64_t end = (offset + std::min<uint64_t>(length, size_ - offset)) / page * page;
  if (begin < end) (void)madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

Status MappedFile::CheckUnchanged() const {
  if (!on_disk()) return OkStatus();
  struct stat info = {};
  if (fstat(fd_, &info) != 0) return FileError(path_, "inspect", errno);
  if (static_cast<uint64_t>(info.st_size) < size_) {
    return DataLossError("{}: expected {} bytes, got {}; the file shrank while it was in use: fetch it again", path_,
                         size_, info.st_size);
  }
  return OkStatus();
}

}  // namespace candor
