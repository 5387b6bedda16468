#include "formats/gguf/header_bytes.h"

#include <algorithm>

#include "base/printable.h"

namespace candor {

Result<std::shared_ptr<HeaderBytes>> HeaderBytes::Open(std::shared_ptr<const MappedFile> file, uint64_t limit) {
  std::shared_ptr<HeaderBytes> header(new HeaderBytes(std::move(file), limit));
  if (header->file_->on_disk()) {
    CANDOR_ASSIGN_OR_RETURN(GrowingBuffer copy, GrowingBuffer::Create(std::min(limit, header->size())));
    header->data_ = copy.bytes().data();
    header->copy_.emplace(std::move(copy));
  } else {
    header->data_ = header->file_->bytes().data();
    header->available_ = header->size();
  }
  return header;
}

Status HeaderBytes::Need(uint64_t end) {
  if (end <= available_) return OkStatus();
  if (end > limit_) {
    return ResourceExhaustedError("expected a header of at most {}, got one of more than {}; the file is damaged",
                                  FormatBytes(limit_), FormatBytes(end - 1));
  }
  constexpr uint64_t kReadAhead = uint64_t{512} << 10;
  const uint64_t wanted = std::min({limit_, size(), std::max(end, available_ + kReadAhead)});
  CANDOR_RETURN_IF_ERROR(copy_->Grow(wanted));
  CANDOR_RETURN_IF_ERROR(file_->ReadAt(available_, copy_->bytes().subspan(available_, wanted - available_)));
  available_ = wanted;
  return OkStatus();
}

}  // namespace candor
