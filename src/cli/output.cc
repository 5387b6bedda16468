#include "cli/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "cli/terminal.h"

namespace candor::cli {
namespace {

// What to do about the failures that a user meets.
const char* Advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space, or name another place";
    case EFBIG:
      return "; raise the limit on the size of files (ulimit -f)";
    case EPIPE:
      return "; what reads it has ended";
    case EBADF:
      return "; it was closed before the program started";
    case ENOENT:
    case ENOTDIR:
      return "; check the path";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; check its owner and mode, or name another place";
    case EISDIR:
      return "; name a file inside it";
    default:
      return "";
  }
}

Status FileError(const std::string& path, const char* action, int error) {
  const StatusCode code = error == ENOENT                     ? StatusCode::kNotFound
                          : error == EACCES || error == EPERM ? StatusCode::kPermissionDenied
                                                              : StatusCode::kUnavailable;
  return Status(
      code, fmt::format("{}: cannot {}: {}{}", path, action, std::generic_category().message(error), Advice(error)));
}

// The whole content of an open descriptor. A device that never ends is noticed.
Result<std::string> ReadAll(int descriptor, const std::string& name) {
  std::string text;
  std::string buffer(size_t{1} << 16, '\0');
  while (text.size() <= kMaxTextBytes) {
    if (!WaitFor(descriptor, POLLIN)) return CancelledError("{}: reading was cancelled", name);
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer, 0, static_cast<size_t>(count));
    } else if (count == 0) {
      return text;
    } else if (errno != EINTR && errno != EAGAIN) {
      return FileError(name, "read", errno);
    }
  }
  return InvalidArgumentError("{}: expected at most {} of text, got more; use a part of it", name,
                              FormatBytes(kMaxTextBytes));
}

Status WriteAll(int descriptor, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    if (!WaitFor(descriptor, POLLOUT)) return CancelledError("{}: writing was cancelled", name);
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      return FileError(name, "write", errno);
    }
  }
  return OkStatus();
}

bool IsSpecialFile(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Where a symbolic link leads, so that its target is replaced and not the link.
std::string ResolvePath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : path;
}

// Calls `make` with names beside `path` until it has made one that no other process uses. Its errno otherwise.
template <typename Make>
int MakeBeside(const std::string& path, std::string& temporary, const Make& make) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = fmt::format("{}.{}.{}.partial", path, ::getpid(), attempt);
    if (make(temporary.c_str())) return 0;
    if (errno != EEXIST) break;
  }
  temporary.clear();
  return errno;
}

std::string DescriptorPath(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// A file without a name in the folder of `path`: gone with the process however that ends. -1 where the file system has
// none, or where it could not be given a name later.
int OpenNameless(const std::string& path) {
  const int descriptor = ::open(FolderOf(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0 || ::access(DescriptorPath(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

Status CheckStdout() {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY) return FileError("stdout", "write", EBADF);
  if (::isatty(STDOUT_FILENO) == 1) {
    return InvalidArgumentError(
        "stdout: expected a file or a pipe for binary data, got a terminal; send it on with > or |, or name a file");
  }
  return OkStatus();
}

}  // namespace

Status WriteStdout(std::string_view text) { return WriteAll(STDOUT_FILENO, text, "stdout"); }

Status WriteReply(std::string_view piece) {
  return StdoutIsTerminal() ? WriteStdout(EscapeControls(piece, "\n\r\t")) : WriteStdout(piece);
}

void WriteStderr(std::string_view text) { (void)WriteAll(STDERR_FILENO, text, "stderr").ok(); }

Result<std::string> ReadStdin() { return ReadAll(STDIN_FILENO, "stdin"); }

Result<std::string> ReadWholeFile(const std::string& path) {
  if (path == "-") return ReadStdin();
  // O_NONBLOCK: a pipe without a writer is waited for in ReadAll, where Ctrl-C ends the wait.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return FileError(path, "open", errno);
  Result<std::string> text = ReadAll(descriptor, path);
  ::close(descriptor);
  return text;
}

Status CheckWritable(const std::string& path) {
  if (path.empty()) return InvalidArgumentError("output file: expected a path, got an empty one");
  if (path == "-") return CheckStdout();
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return InvalidArgumentError("{}: expected a file to write, got a directory; name a file inside it", path);
  if (exists && ::access(path.c_str(), W_OK) != 0) return FileError(path, "write", errno);
  if (IsSpecialFile(path)) return OkStatus();
  if (::access(FolderOf(path).c_str(), W_OK | X_OK) != 0) return FileError(path, "create", errno);
  return OkStatus();
}

Result<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  CANDOR_RETURN_IF_ERROR(CheckWritable(path));
  std::unique_ptr<OutputFile> output(new OutputFile());
  if (path == "-") {
    output->path_ = "stdout";
    output->descriptor_ = STDOUT_FILENO;
    output->kind_ = Kind::kStdout;
    return output;
  }
  output->path_ = ResolvePath(path);
  CANDOR_RETURN_IF_ERROR(IsSpecialFile(path) ? output->OpenSpecial(path) : output->OpenBeside());
  return output;
}

Status OutputFile::OpenSpecial(const std::string& path) {
  kind_ = Kind::kDirect;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);  // of a pipe: waits for a reader
  if (descriptor_ >= 0) return OkStatus();
  if (errno == EINTR) return CancelledError("{}: waiting for a reader was cancelled", path);
  return FileError(path, "open", errno);
}

Status OutputFile::OpenBeside() {
  kind_ = Kind::kNameless;
  descriptor_ = OpenNameless(path_);
  if (descriptor_ >= 0) return OkStatus();
  kind_ = Kind::kNamed;
  const int error = MakeBeside(path_, temporary_, [this](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor_ >= 0;
  });
  return error == 0 ? OkStatus() : FileError(path_, "create", error);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && kind_ != Kind::kStdout) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::Write(std::span<const std::byte> bytes) {
  return WriteAll(descriptor_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path_);
}

Status OutputFile::Commit() {
  if (kind_ == Kind::kStdout) return OkStatus();
  if (kind_ == Kind::kNameless) {
    const std::string source = DescriptorPath(descriptor_);
    const int error = MakeBeside(path_, temporary_, [&source](const char* name) {
      return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    if (error != 0) return FileError(path_, "create", error);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) return FileError(path_, "write", errno);
  if (temporary_.empty()) return OkStatus();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return FileError(path_, "replace", errno);
  temporary_.clear();
  return OkStatus();
}

Status WriteWholeFile(const std::string& path, std::string_view text) {
  CANDOR_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  CANDOR_RETURN_IF_ERROR(file->Write(std::as_bytes(std::span(text))));
  return file->Commit();
}

}  // namespace candor::cli
