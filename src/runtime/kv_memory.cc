#include "runtime/kv_memory.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace candor {
namespace {

class HostKvMemory : public KvMemory {
 public:
  Result<std::byte*> NewPage(uint64_t bytes) override {
    CANDOR_ASSIGN_OR_RETURN(AlignedBuffer memory, AlignedBuffer::Allocate(bytes, "kv cache page"));
    pages_.push_back(std::move(memory));
    return pages_.back().data();
  }
  void Clear(std::byte* page, uint64_t bytes) override { std::memset(page, 0, bytes); }
  Status Copy(std::byte* to, const std::byte* from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
    return OkStatus();
  }

 private:
  std::vector<AlignedBuffer> pages_;
};

// Pages of one allocation follow each other.
constexpr uint64_t kChunkBytes = uint64_t{16} << 20;
constexpr uint64_t kPageAlignment = 256;

class GpuKvMemory : public KvMemory {
 public:
  explicit GpuKvMemory(GpuDevice& device) : device_(device) {}

  Result<std::byte*> NewPage(uint64_t bytes) override {
    bytes = (bytes + kPageAlignment - 1) / kPageAlignment * kPageAlignment;
    if (chunks_.empty() || used_ + bytes > chunks_.back()->bytes()) {
      const uint64_t chunk = std::max(bytes, kChunkBytes / bytes * bytes);
      CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuBuffer> buffer,
                              device_.Allocate(chunk, GpuMemoryKind::kDevice, "kv cache"));
      chunks_.push_back(std::move(buffer));
      used_ = 0;
    }
    const uint64_t address = chunks_.back()->address() + used_;
    used_ += bytes;
    return reinterpret_cast<std::byte*>(address);
  }
  void Clear(std::byte*, uint64_t) override {}
  Status Copy(std::byte* to, const std::byte* from, uint64_t bytes) override {
    const GpuCopy copy{PlaceOf(from), PlaceOf(to), bytes};
    return device_.Copy({&copy, 1});
  }

 private:
  GpuPlace PlaceOf(const std::byte* page) const {
    const auto address = reinterpret_cast<uint64_t>(page);
    for (const std::unique_ptr<GpuBuffer>& chunk : chunks_) {
      if (address >= chunk->address() && address < chunk->address() + chunk->bytes())
        return {chunk.get(), address - chunk->address()};
    }
    CANDOR_CHECK(false, "kv page of another memory");
  }

  GpuDevice& device_;
  std::vector<std::unique_ptr<GpuBuffer>> chunks_;
  uint64_t used_ = 0;  // of the last chunk
};

}  // namespace

std::unique_ptr<KvMemory> MakeHostKvMemory() { return std::make_unique<HostKvMemory>(); }
std::unique_ptr<KvMemory> MakeGpuKvMemory(GpuDevice& device) { return std::make_unique<GpuKvMemory>(device); }

}  // namespace candor
