// An instance of Vulkan and the adapters that its drivers show. Everything here calls into drivers, which may crash or
// hang: it runs in a probe process first (src/probe).
#pragma once

#include <vector>

#include "device/device.h"
#include "device/vulkan/vulkan_api.h"

namespace candor {

// The oldest Vulkan that Candor's kernels run on.
inline constexpr uint32_t kMinVulkanVersion = VK_API_VERSION_1_3;

struct VulkanAdapter {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
};

// Owner of a VkInstance. The loader must outlive it. One thread at a time.
class VulkanInstance {
 public:
  // FailedPrecondition for a loader that is too old; Unavailable when no driver works (VK_ERROR_INCOMPATIBLE_DRIVER).
  static Result<VulkanInstance> Create(const VulkanLoader& loader);
  VulkanInstance(VulkanInstance&& other) noexcept;
  VulkanInstance& operator=(VulkanInstance&&) = delete;
  ~VulkanInstance();

  // In the loader's order, which gives the index. Empty when there is none.
  Result<std::vector<VulkanAdapter>> ListAdapters() const;

  const VulkanInstanceApi& api() const { return api_; }
  VkInstance handle() const { return handle_; }
  // A function of an extension; null when nobody has it.
  PFN_vkVoidFunction Function(const char* name) const { return get_(handle_, name); }

 private:
  VulkanInstance() = default;
  VkInstance handle_ = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr get_ = nullptr;
  VulkanInstanceApi api_;
};

}  // namespace candor
