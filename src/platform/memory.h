// How much memory there is, and large aligned allocations that fail with a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace candor {

struct MemoryInfo {
  uint64_t total = 0;      // bytes this process may ever use: physical memory, control group limit, address-space limit
  uint64_t available = 0;  // bytes it can take now without swapping; page cache counts as available
};

// Works without /proc and /sys (then from sysinfo(2) alone). `root` is "" but in tests. Thread safe.
MemoryInfo ReadMemoryInfo(const std::string& root = "");

// An owner of zeroed memory, aligned to 64 bytes; from 2 MiB on aligned to huge pages, which are asked for. Pages are
// taken from the system when first written.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // `what` begins the message: "weights: expected 812.0 MiB of memory, …". ResourceExhausted when the system refuses,
  // or when it could never hold that much.
  static Result<AlignedBuffer> Allocate(uint64_t bytes, std::string_view what);
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  bool empty() const { return size_ == 0; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;          // as asked for
  void* mapping_ = nullptr;  // what to give back
  size_t mapping_size_ = 0;
};

}  // namespace candor
