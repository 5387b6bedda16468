// VulkanContext: a logical device that is open for work, with one compute queue and what every kernel shares. The
// buffers, recordings and the device of the other files hold a reference to it.
#pragma once

#include <memory>
#include <optional>

#include "device/gpu_device.h"
#include "device/vulkan/vulkan_instance.h"

namespace candor {

// One thread at a time.
class VulkanContext {
 public:
  // The adapter of that UUID, else of that index where the driver tells no UUID.
  static Result<std::unique_ptr<VulkanContext>> Open(const DeviceInfo& info);
  ~VulkanContext();
  VulkanContext(const VulkanContext&) = delete;
  VulkanContext& operator=(const VulkanContext&) = delete;

  VkDevice device() const { return device_; }
  const VulkanDeviceApi& api() const { return api_; }
  const VulkanComputeApi& compute() const { return compute_; }
  const DeviceInfo& info() const { return info_; }
  VkPipelineLayout layout() const { return layout_; }  // push constants of kMaxGpuParameterBytes, no descriptors
  bool full_subgroups() const { return full_subgroups_; }
  bool timestamps() const { return timestamps_; }

  // The first memory type of `allowed` (a bit mask) with all of `wanted`.
  std::optional<uint32_t> FindMemoryType(uint32_t allowed, VkMemoryPropertyFlags wanted) const;
  // Bytes that this process may still take of the device's own memory.
  uint64_t FreeMemory() const;

  Result<VkCommandBuffer> AllocateCommands();
  void FreeCommands(VkCommandBuffer commands);
  // Submits and waits. After a failure the device counts as lost: every later call says so.
  Status SubmitAndWait(VkCommandBuffer commands);

 private:
  VulkanContext() = default;
  Status FindAdapter(const DeviceInfo& info);
  Status MakeDevice();
  Status MakeShared();
  Status Lose(Status status);

  VulkanLoader loader_;
  std::optional<VulkanInstance> instance_;
  VkPhysicalDevice adapter_ = VK_NULL_HANDLE;
  DeviceInfo info_;
  VkPhysicalDeviceMemoryProperties memory_ = {};
  uint32_t queue_family_ = 0;
  bool timestamps_ = false;
  bool full_subgroups_ = false;
  VkDevice device_ = VK_NULL_HANDLE;
  VulkanDeviceApi api_;
  VulkanComputeApi compute_;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  Status lost_;  // why the device is of no use any more
};

}  // namespace candor
