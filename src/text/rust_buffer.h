// Owner of a buffer that the Rust library returned.
#pragma once

#include <string>
#include <string_view>

#include "text/rust/candor_text.h"

namespace candor {

class RustBuffer {
 public:
  RustBuffer() = default;
  RustBuffer(const RustBuffer&) = delete;
  RustBuffer& operator=(const RustBuffer&) = delete;
  ~RustBuffer() { candor_text_buffer_free(buffer_); }

  CandorTextBuffer* out() { return &buffer_; }  // filled at most once
  const uint8_t* data() const { return buffer_.data; }
  size_t size() const { return buffer_.size; }
  std::string_view view() const { return {reinterpret_cast<const char*>(buffer_.data), buffer_.size}; }

 private:
  CandorTextBuffer buffer_ = {nullptr, 0, 0};
};

inline CandorTextSlice RustSlice(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace candor
