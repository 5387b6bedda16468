// Is a Vulkan device able to hold and move bytes? A logical device, a buffer on each side, and a round trip through the
// queue.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/vulkan/vulkan_instance.h"

namespace candor {

// Owns a logical device with one compute queue and what the check makes on it. The instance must outlive it. One
// thread.
class VulkanMemoryCheck {
 public:
  // FailedPrecondition without a compute queue; else what vkCreateDevice says.
  static Result<std::unique_ptr<VulkanMemoryCheck>> Create(const VulkanInstance& instance, VkPhysicalDevice adapter);
  ~VulkanMemoryCheck();
  VulkanMemoryCheck(const VulkanMemoryCheck&) = delete;
  VulkanMemoryCheck& operator=(const VulkanMemoryCheck&) = delete;

  // Writes a pattern of `bytes` (a multiple of 4) to host memory, copies it to the device and back, and compares.
  // DataLoss when it came back changed; ResourceExhausted with the amount asked for; DeadlineExceeded after ten
  // seconds.
  Status RoundTrip(uint64_t bytes);

 private:
  struct Allocation {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
  };
  VulkanMemoryCheck() = default;
  Result<Allocation> Allocate(uint64_t bytes, VkMemoryPropertyFlags wanted);
  Result<VkCommandBuffer> Record(VkBuffer from, VkBuffer device, VkBuffer to, uint64_t bytes);
  Status SubmitAndWait(VkCommandBuffer commands);

  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t queue_family_ = 0;
  VkPhysicalDeviceMemoryProperties memory_ = {};
  VulkanDeviceApi api_;
  std::vector<Allocation> allocations_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
};

}  // namespace candor
