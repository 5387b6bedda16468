#include "formats/gguf/gguf_names.h"

#include <algorithm>

#include "base/printable.h"

namespace candor {

Status CheckName(std::string_view name, uint64_t limit) {
  if (name.empty() || name.size() > limit) {
    return DataLossError("expected a name of 1 to {} bytes, got {} bytes; the file is damaged: fetch it again", limit,
                         name.size());
  }
  const bool has_control =
      std::any_of(name.begin(), name.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; });
  if (has_control || !IsValidUtf8(name)) {
    return DataLossError(
        "expected a name in UTF-8 without control characters, got '{}'; the file is damaged: fetch it again",
        Printable(name));
  }
  return OkStatus();
}

}  // namespace candor
