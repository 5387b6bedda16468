// A buffer that grows without moving: views into it stay valid. Address space for the limit is reserved at once, memory
// is taken as it grows. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace candor {

class GrowingBuffer {
 public:
  // Reserves address space for `limit` bytes. ResourceExhausted when there is none.
  static Result<GrowingBuffer> Create(uint64_t limit);
  GrowingBuffer(GrowingBuffer&& other) noexcept;
  GrowingBuffer& operator=(GrowingBuffer&&) = delete;
  ~GrowingBuffer();

  // Makes at least `size` bytes (at most the limit) usable; new ones are zero. ResourceExhausted when there is no
  // memory.
  Status Grow(uint64_t size);

  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  GrowingBuffer(std::byte* data, uint64_t reserved) : data_(data), reserved_(reserved) {}
  std::byte* data_;
  uint64_t reserved_;
  uint64_t size_ = 0;
};

}  // namespace candor
