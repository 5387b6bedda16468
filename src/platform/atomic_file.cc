#include "platform/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "platform/system_error.h"

namespace candor {
namespace {

// A new file beside `target`; its name is chosen so that two writers, of one process or several, never share it.
Result<int> CreateBeside(const std::string& path, const std::string& target, std::string& temporary) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary = fmt::format("{}.{}-{}.part", target, getpid(), attempt);
    const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    if (errno != EEXIST) return FileError(path, "create", errno);
  }
  return UnavailableError("{}: cannot create: {} temporary files are in the way; remove '{}.*.part'", path, kAttempts,
                          target);
}

}  // namespace

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return InvalidArgumentError("expected the path of a file to write, got '{}'", path);
  AtomicFile file;
  file.path_ = path;
  file.target_ = path;
  struct stat info = {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return InvalidArgumentError("{}: expected a file to write, got a folder; name a file inside it", path);
  if (exists && !S_ISREG(info.st_mode)) {
    file.fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.fd_ < 0) return FileError(path, "write", errno);
    return file;
  }
  if (exists) {
    if (access(path.c_str(), W_OK) != 0) return FileError(path, "write", errno);
    std::error_code error;
    const auto resolved = std::filesystem::canonical(path, error);
    if (!error) file.target_ = resolved.string();
  }
  CANDOR_ASSIGN_OR_RETURN(file.fd_, CreateBeside(path, file.target_, file.temporary_));
  if (exists) (void)fchmod(file.fd_, info.st_mode & 07777);  // keeps the old file's mode; not worth failing for
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() { Discard(); }

void AtomicFile::Discard() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
  if (!temporary_.empty()) unlink(std::exchange(temporary_, std::string()).c_str());
}

Status AtomicFile::Append(std::span<const std::byte> bytes) {
  if (fd_ < 0) return FailedPreconditionError("{}: expected an open file, got one that has failed or is done", path_);
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Status status = FileError(path_, "write", errno);
      Discard();
      return status;
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status AtomicFile::Commit() {
  if (fd_ < 0) return FailedPreconditionError("{}: expected an open file, got one that has failed or is done", path_);
  Status status;
  // Some file systems notice only now that the disk is full.
  if (!temporary_.empty() && fsync(fd_) != 0) status = FileError(path_, "write", errno);
  if (close(std::exchange(fd_, -1)) != 0 && status.ok()) status = FileError(path_, "write", errno);
  if (status.ok() && !temporary_.empty()) {
    if (rename(temporary_.c_str(), target_.c_str()) != 0) {
      status = FileError(path_, "replace", errno);
    } else {
      temporary_.clear();
    }
  }
  Discard();
  return status;
}

Status WriteFileAtomically(const std::string& path, std::span<const std::byte> content) {
  CANDOR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  CANDOR_RETURN_IF_ERROR(file.Append(content));
  return file.Commit();
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  return WriteFileAtomically(path, std::as_bytes(std::span<const char>(content)));
}

}  // namespace candor
