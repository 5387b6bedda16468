// Vulkan without linking it: the loader is opened at run time, and every function is fetched by name. Nothing here is
// global.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string_view>

#include "base/status.h"
#include "platform/dynamic_library.h"

namespace candor {

// A Vulkan structure with its type set and everything else zero.
template <typename T>
T VulkanStruct(VkStructureType type) {
  T structure = {};
  structure.sType = type;
  return structure;
}

// Functions of an instance, and of a device; all are core Vulkan 1.1 or older.
#define CANDOR_VULKAN_INSTANCE_FUNCTIONS(X)   \
  X(vkDestroyInstance)                        \
  X(vkEnumeratePhysicalDevices)               \
  X(vkEnumerateDeviceExtensionProperties)     \
  X(vkGetPhysicalDeviceProperties)            \
  X(vkGetPhysicalDeviceProperties2)           \
  X(vkGetPhysicalDeviceFeatures2)             \
  X(vkGetPhysicalDeviceMemoryProperties2)     \
  X(vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkCreateDevice)                           \
  X(vkGetDeviceProcAddr)
#define CANDOR_VULKAN_DEVICE_FUNCTIONS(X) \
  X(vkDestroyDevice)                      \
  X(vkGetDeviceQueue)                     \
  X(vkCreateBuffer)                       \
  X(vkDestroyBuffer)                      \
  X(vkGetBufferMemoryRequirements)        \
  X(vkAllocateMemory)                     \
  X(vkFreeMemory)                         \
  X(vkBindBufferMemory)                   \
  X(vkMapMemory)                          \
  X(vkCreateCommandPool)                  \
  X(vkDestroyCommandPool)                 \
  X(vkAllocateCommandBuffers)             \
  X(vkBeginCommandBuffer)                 \
  X(vkEndCommandBuffer)                   \
  X(vkCmdCopyBuffer)                      \
  X(vkCmdPipelineBarrier)                 \
  X(vkCreateFence)                        \
  X(vkDestroyFence)                       \
  X(vkWaitForFences)                      \
  X(vkQueueSubmit)                        \
  X(vkDeviceWaitIdle)

// What running kernels needs besides: fetched when a device is opened for work (vulkan_context.h), so that any driver
// can be listed. Core Vulkan 1.2.
#define CANDOR_VULKAN_COMPUTE_FUNCTIONS(X) \
  X(vkGetBufferDeviceAddress)              \
  X(vkCreateShaderModule)                  \
  X(vkDestroyShaderModule)                 \
  X(vkCreatePipelineLayout)                \
  X(vkDestroyPipelineLayout)               \
  X(vkCreateComputePipelines)              \
  X(vkDestroyPipeline)                     \
  X(vkCreateQueryPool)                     \
  X(vkDestroyQueryPool)                    \
  X(vkGetQueryPoolResults)                 \
  X(vkFreeCommandBuffers)                  \
  X(vkResetFences)                         \
  X(vkCmdBindPipeline)                     \
  X(vkCmdPushConstants)                    \
  X(vkCmdDispatch)                         \
  X(vkCmdResetQueryPool)                   \
  X(vkCmdWriteTimestamp)

#define CANDOR_VULKAN_MEMBER(name) PFN_##name name = nullptr;
struct VulkanInstanceApi {
  CANDOR_VULKAN_INSTANCE_FUNCTIONS(CANDOR_VULKAN_MEMBER)
};
struct VulkanDeviceApi {
  CANDOR_VULKAN_DEVICE_FUNCTIONS(CANDOR_VULKAN_MEMBER)
};
struct VulkanComputeApi {
  CANDOR_VULKAN_COMPUTE_FUNCTIONS(CANDOR_VULKAN_MEMBER)
};
#undef CANDOR_VULKAN_MEMBER

// Unavailable, and the function's name, when the loader or driver lacks one.
Result<VulkanInstanceApi> LoadInstanceApi(PFN_vkGetInstanceProcAddr get, VkInstance instance);
Result<VulkanDeviceApi> LoadDeviceApi(PFN_vkGetDeviceProcAddr get, VkDevice device);
Result<VulkanComputeApi> LoadComputeApi(PFN_vkGetDeviceProcAddr get, VkDevice device);

// "vulkan vkCreateDevice: VK_ERROR_DEVICE_LOST (-4)", with the code that fits: ResourceExhausted for memory and
// objects, FailedPrecondition for what the device lacks, else Unavailable. Never Ok: `result` must not be VK_SUCCESS.
Status VulkanError(std::string_view where, VkResult result);
std::string_view VulkanResultName(VkResult result);

#define CANDOR_RETURN_IF_VULKAN_ERROR(where, expression)                           \
  do {                                                                             \
    const VkResult candor_result_ = (expression);                                  \
    if (candor_result_ != VK_SUCCESS) return VulkanError((where), candor_result_); \
  } while (false)

// The loader of the machine, and what starts from it. Owner of the library: outlives every instance.
class VulkanLoader {
 public:
  // NotFound when the machine has no loader; Unavailable for one that cannot be used.
  static Result<VulkanLoader> Open(const std::string& name = "libvulkan.so.1");

  const std::string& path() const { return library_.path(); }
  uint32_t version() const { return version_; }  // of instances that it can make; 1.0 where it does not tell
  PFN_vkGetInstanceProcAddr get() const { return get_; }

 private:
  DynamicLibrary library_;
  PFN_vkGetInstanceProcAddr get_ = nullptr;
  uint32_t version_ = VK_API_VERSION_1_0;
};

std::string FormatVulkanVersion(uint32_t version);  // "1.3.280"

}  // namespace candor
