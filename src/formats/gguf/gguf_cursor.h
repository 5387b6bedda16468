// Reads little-endian values one after another from a file's header, never behind its end. The first failure stays:
// every later read fails as well, and status() says what was expected where.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/status.h"
#include "formats/gguf/header_bytes.h"

namespace candor {

static_assert(std::endian::native == std::endian::little, "values are copied as they are stored");

class GgufCursor {
 public:
  explicit GgufCursor(std::shared_ptr<HeaderBytes> bytes) : bytes_(std::move(bytes)) {}

  const Status& status() const { return status_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_->size() - position_; }
  uint64_t file_size() const { return bytes_->size(); }

  template <typename T>
  bool Read(T& out) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::byte* at = Take(sizeof(T));
    if (at == nullptr) return false;
    std::memcpy(&out, at, sizeof(T));
    return true;
  }

  // A 64-bit length and that many bytes; `out` points into the header and lives as long as it.
  bool ReadString(std::string_view& out) {
    uint64_t length = 0;
    if (!Read(length)) return false;
    const std::byte* at = Take(length);
    if (at == nullptr) return false;
    out = {reinterpret_cast<const char*>(at), length};
    return true;
  }

  // The next `count` bytes, or nullptr when the file has fewer.
  const std::byte* Take(uint64_t count) {
    if (count > bytes_->available() - position_ && !Fetch(count)) return nullptr;
    const std::byte* at = bytes_->data() + position_;
    position_ += count;
    return at;
  }

 private:
  bool Fetch(uint64_t count);  // makes them available, or sets status_

  std::shared_ptr<HeaderBytes> bytes_;
  uint64_t position_ = 0;
  Status status_;
};

}  // namespace candor
