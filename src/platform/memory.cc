#include "platform/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/printable.h"
#include "platform/cgroup.h"
#include "platform/text_file.h"

namespace candor {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

// Physical memory. MemAvailable counts page cache that can be given back; sysinfo(2) only counts what is free.
MemoryInfo ReadMachineMemory(const std::string& root) {
  MemoryInfo info;
  struct sysinfo system = {};
  if (sysinfo(&system) == 0) {
    info.total = uint64_t{system.totalram} * system.mem_unit;
    info.available = (uint64_t{system.freeram} + system.bufferram) * system.mem_unit;
  }
  if (const auto text = ReadSmallTextFile(root + "/proc/meminfo")) {
    const auto total = FindNumber(*text, "MemTotal:");
    const auto available = FindNumber(*text, "MemAvailable:");
    if (total && available) info = {*total * 1024, *available * 1024};
  }
  return info;
}

// `ulimit -v`: what this process has mapped counts against them, not what it has touched.
void ApplyProcessLimits(const std::string& root, MemoryInfo& info) {
  uint64_t mapped = 0;
  if (const auto text = ReadSmallTextFile(root + "/proc/self/statm")) {
    mapped = ParseNumber(std::string_view(*text).substr(0, text->find(' '))).value_or(0) *
             static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    info.total = std::min<uint64_t>(info.total, limit.rlim_cur);
    info.available = std::min<uint64_t>(info.available, limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, mapped));
  }
}

}  // namespace

MemoryInfo ReadMemoryInfo(const std::string& root) {
  MemoryInfo info = ReadMachineMemory(root);
  const CgroupLimits limits = ReadCgroupLimits(root);
  if (limits.memory) info.total = std::min(info.total, *limits.memory);
  if (limits.memory_free) info.available = std::min(info.available, *limits.memory_free);
  ApplyProcessLimits(root, info);
  return info;
}

Result<AlignedBuffer> AlignedBuffer::Allocate(uint64_t bytes, std::string_view what) {
  AlignedBuffer buffer;
  if (bytes == 0) return buffer;
  const bool huge = bytes >= kHugePage;
  const uint64_t slack = huge ? kHugePage : 0;
  const auto wanted = CheckedAdd(bytes, slack);
  const MemoryInfo memory = ReadMemoryInfo();
  void* mapping = MAP_FAILED;
  if (wanted && bytes <= memory.total) {
    mapping = mmap(nullptr, *wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (mapping == MAP_FAILED) {
    return ResourceExhaustedError(
        "{}: expected {} of memory, got {} available of {}; free some memory or choose something smaller", what,
        FormatBytes(bytes), FormatBytes(memory.available), FormatBytes(memory.total));
  }
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t aligned = huge ? (address + kHugePage - 1) & ~uintptr_t{kHugePage - 1} : address;
  buffer.mapping_ = mapping;
  buffer.mapping_size_ = *wanted;
  buffer.data_ = reinterpret_cast<std::byte*>(aligned);
  buffer.size_ = bytes;
  if (huge) (void)madvise(buffer.data_, bytes, MADV_HUGEPAGE);  // a wish: small pages do as well
  return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_size_(std::exchange(other.mapping_size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_size_, other.mapping_size_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_size_);
}

}  // namespace candor
