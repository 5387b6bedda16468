// Reading and writing whole files and the standard streams, with every failure noticed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace candor::cli {

// The most that is read as text: beyond any context, and small enough for memory.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;

// Writes to stdout at once. Unavailable when it is closed or full, Cancelled when Ctrl-C came while nothing read it.
Status WriteStdout(std::string_view text);
// A piece of a model's reply; on a terminal its control characters are escaped, so that no model drives the terminal.
Status WriteReply(std::string_view piece);
// Writes to stderr; failures there have nowhere to go.
void WriteStderr(std::string_view text);

// All bytes of a file, of stdin for "-". NotFound, PermissionDenied, InvalidArgument (more than kMaxTextBytes),
// Cancelled, Unavailable.
Result<std::string> ReadWholeFile(const std::string& path);
Result<std::string> ReadStdin();

// Can a file be made or replaced there, can binary data go to stdout for "-"? Looked at before a long run whose result
// goes into it.
Status CheckWritable(const std::string& path);

// A file that appears under its name only when it is complete: written without a name (beside it, where the file system
// knows no files without names) and put there by Commit; without Commit nothing is left. A path that is no regular file
// (a pipe, /dev/null) and stdout ("-") are written directly.
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> Create(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status Write(std::span<const std::byte> bytes);
  Status Commit();

 private:
  enum class Kind { kNameless, kNamed, kDirect, kStdout };
  OutputFile() = default;
  Status OpenSpecial(const std::string& path);
  Status OpenBeside();
  std::string path_;
  std::string temporary_;  // the name beside path_, while there is one
  int descriptor_ = -1;
  Kind kind_ = Kind::kDirect;
};

Status WriteWholeFile(const std::string& path, std::string_view text);

}  // namespace candor::cli
