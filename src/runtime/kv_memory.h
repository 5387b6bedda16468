// KvMemory: where pages of the KV cache lie. A page is known by its address, which only the kernels of its device can
// follow. Not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "device/gpu_device.h"
#include "platform/memory.h"

namespace candor {

class KvMemory {
 public:
  virtual ~KvMemory() = default;
  // A page of so many bytes; given back when the memory is destroyed. ResourceExhausted.
  virtual Result<std::byte*> NewPage(uint64_t bytes) = 0;
  // Makes a page that was used before as new.
  virtual void Clear(std::byte* page, uint64_t bytes) = 0;
  virtual Status Copy(std::byte* to, const std::byte* from, uint64_t bytes) = 0;
};

// On the host, for the CPU; pages are zeroed, since the CPU's attention multiplies what it masks.
std::unique_ptr<KvMemory> MakeHostKvMemory();
// On a device, taken in large pieces; pages are not cleared, since a GPU's attention never reads what it masks.
std::unique_ptr<KvMemory> MakeGpuKvMemory(GpuDevice& device);

}  // namespace candor
