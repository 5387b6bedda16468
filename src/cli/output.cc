#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace candor::cli {
namespace {

std::string ErrorText(int error) { return std::generic_category().message(error); }

Status FileError(const std::string& path, const char* action, int error) {
  const StatusCode code = error == ENOENT                     ? StatusCode::kNotFound
                          : error == EACCES || error == EPERM ? StatusCode::kPermissionDenied
                                                              : StatusCode::kUnavailable;
  return Status(code, fmt::format("{}: cannot {}: {}", path, action, ErrorText(error)));
}

// The whole content of an open descriptor.
Result<std::string> ReadAll(int descriptor, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
    } else if (count == 0) {
      return text;
    } else if (errno != EINTR) {
      return FileError(name, "read", errno);
    } else {
      return CancelledError("{}: reading was interrupted", name);
    }
  }
}

Status WriteAll(int descriptor, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR) {
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

// A new file beside `path`, with a name that no other process uses.
Result<std::FILE*> CreateTemporary(const std::string& path, std::string& temporary) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = fmt::format("{}.{}.{}.partial", path, ::getpid(), attempt);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return ::fdopen(descriptor, "wb");
    if (errno != EEXIST) break;
  }
  temporary.clear();
  return FileError(path, "create", errno);
}

}  // namespace

Status WriteStdout(std::string_view text) { return WriteAll(STDOUT_FILENO, text, "stdout"); }

void WriteStderr(std::string_view text) { (void)WriteAll(STDERR_FILENO, text, "stderr").ok(); }

Result<std::string> ReadStdin() { return ReadAll(STDIN_FILENO, "stdin"); }

Result<std::string> ReadWholeFile(const std::string& path) {
  if (path == "-") return ReadStdin();
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileError(path, "open", errno);
  Result<std::string> text = ReadAll(descriptor, path);
  ::close(descriptor);
  return text;
}

Status CheckWritable(const std::string& path) {
  if (path.empty()) return InvalidArgumentError("output file: expected a path, got an empty one");
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return InvalidArgumentError("{}: expected a file to write, got a directory", path);
  if (exists && ::access(path.c_str(), W_OK) != 0) return FileError(path, "write", errno);
  const std::string folder = FolderOf(path);
  if (IsSpecialFile(path)) return OkStatus();
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return FileError(path, "create", errno);
  return OkStatus();
}

Result<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  CANDOR_RETURN_IF_ERROR(CheckWritable(path));
  std::unique_ptr<OutputFile> output(new OutputFile());
  output->path_ = ResolvePath(path);
  if (IsSpecialFile(path)) {
    output->file_ = std::fopen(path.c_str(), "wb");
    if (output->file_ == nullptr) return FileError(path, "open", errno);
  } else {
    CANDOR_ASSIGN_OR_RETURN(output->file_, CreateTemporary(output->path_, output->temporary_));
  }
  return output;
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::Write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return FileError(path_, "write", errno);
  return OkStatus();
}

Status OutputFile::Commit() {
  const int closed = std::fclose(file_);
  file_ = nullptr;
  if (closed != 0) return FileError(path_, "write", errno);
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
