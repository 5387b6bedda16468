// Reading and writing whole files and the standard streams, with every failure noticed.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace candor::cli {

// Writes to stdout at once. Unavailable when it is closed or full.
Status WriteStdout(std::string_view text);
// Writes to stderr; failures there have nowhere to go.
void WriteStderr(std::string_view text);

// All bytes of a file, of stdin for "-". NotFound, PermissionDenied, InvalidArgument (a directory), Unavailable.
Result<std::string> ReadWholeFile(const std::string& path);
Result<std::string> ReadStdin();

// Can a file be made or replaced there? Looked at before a long run whose result goes into it.
Status CheckWritable(const std::string& path);

// A file that appears under its name only when it is complete: written beside it and renamed by Commit; without Commit
// nothing is left. A path that is no regular file (a pipe, /dev/null) is written directly.
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> Create(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status Write(std::span<const std::byte> bytes);
  Status Commit();

 private:
  OutputFile() = default;
  std::string path_;
  std::string temporary_;  // empty: written directly
  std::FILE* file_ = nullptr;
};

Status WriteWholeFile(const std::string& path, std::string_view text);

}  // namespace candor::cli
