// The beginning of a file in memory, as far as it has been asked for. Nothing here can fault when the file shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "platform/growing_buffer.h"
#include "platform/mapped_file.h"

namespace candor {

class HeaderBytes {
 public:
  // A file on disk is copied as it is asked for; one in memory is used in place.
  static Result<std::shared_ptr<HeaderBytes>> Open(std::shared_ptr<const MappedFile> file, uint64_t limit);

  // Makes the bytes [0, end) available; end <= size(). They never move. ResourceExhausted when end is over the limit or
  // there is no memory, DataLoss when the file has shrunk.
  Status Need(uint64_t end);

  const std::byte* data() const { return data_; }
  uint64_t available() const { return available_; }
  uint64_t size() const { return file_->size(); }  // of the file
  const std::string& path() const { return file_->path(); }

 private:
  HeaderBytes(std::shared_ptr<const MappedFile> file, uint64_t limit) : file_(std::move(file)), limit_(limit) {}
  std::shared_ptr<const MappedFile> file_;
  uint64_t limit_;
  std::optional<GrowingBuffer> copy_;
  const std::byte* data_ = nullptr;
  uint64_t available_ = 0;
};

}  // namespace candor
