#include "platform/growing_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"

namespace candor {
namespace {

uint64_t RoundUpToPage(uint64_t size) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

Result<GrowingBuffer> GrowingBuffer::Create(uint64_t limit) {
  const uint64_t reserved = RoundUpToPage(limit == 0 ? 1 : limit);
  // PROT_NONE: not counted as memory before Grow makes it usable.
  void* address = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return ResourceExhaustedError("cannot reserve {} bytes of address space; raise the limit (ulimit -v)", reserved);
  return GrowingBuffer(static_cast<std::byte*>(address), reserved);
}

GrowingBuffer::GrowingBuffer(GrowingBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      reserved_(std::exchange(other.reserved_, 0)),
      size_(std::exchange(other.size_, 0)) {}

GrowingBuffer::~GrowingBuffer() {
  if (data_ != nullptr) munmap(data_, reserved_);
}

Status GrowingBuffer::Grow(uint64_t size) {
  CANDOR_CHECK(size <= reserved_, "GrowingBuffer: grown over its limit");
  const uint64_t usable = RoundUpToPage(size);
  if (usable > size_) {
    if (mprotect(data_, usable, PROT_READ | PROT_WRITE) != 0)
      return ResourceExhaustedError("cannot get {} bytes of memory", usable);
    size_ = usable;
  }
  return OkStatus();
}

}  // namespace candor
