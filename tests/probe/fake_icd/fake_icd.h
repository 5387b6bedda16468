// A Vulkan driver of a GPU that does not exist: as small as the loader and a probe allow. It keeps buffers in host
// memory, runs copies when they are recorded, and crashes, hangs, lies or fails at the place that CANDOR_FAKE_DRIVER
// names.
#pragma once

#include <vulkan/vk_icd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "misbehave.h"

namespace candor::fake {

// The function of a name, of the instance or of the device; null for what this driver lacks.
PFN_vkVoidFunction FindFunction(std::string_view name);
PFN_vkVoidFunction FindDeviceFunction(std::string_view name);
PFN_vkVoidFunction FindComputeFunction(std::string_view name);

// Dispatchable objects begin with the loader's own data.
struct Dispatchable {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
};

struct Buffer {
  VkDeviceSize size = 0;
  std::byte* bytes = nullptr;
};

template <typename Handle>
Handle ToHandle(void* pointer) {
  return (Handle)(uintptr_t)pointer;  // NOLINT: a pointer or a 64-bit number, by platform
}
template <typename T, typename Handle>
T* FromHandle(Handle handle) {
  return (T*)(uintptr_t)handle;  // NOLINT
}

struct NamedFunction {
  std::string_view name;
  PFN_vkVoidFunction function;
};

#define CANDOR_FAKE(name) \
  { "vk" #name, reinterpret_cast<PFN_vkVoidFunction>(name) }

// Has a kernel been recorded? Then the next submission is one of kernels.
inline bool& KernelsRecorded() {
  static bool recorded = false;  // NOLINT: the state of a driver
  return recorded;
}

}  // namespace candor::fake
