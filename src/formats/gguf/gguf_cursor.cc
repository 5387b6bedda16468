#include "formats/gguf/gguf_cursor.h"

namespace candor {

bool GgufCursor::Fetch(uint64_t count) {
  if (!status_.ok()) return false;
  if (count > remaining()) {
    status_ = DataLossError(
        "expected {} bytes at offset {}, got the end of the file after {}; the file is truncated or damaged: fetch it "
        "again",
        count, position_, remaining());
    return false;
  }
  status_ = bytes_->Need(position_ + count);
  return status_.ok();
}

}  // namespace candor
