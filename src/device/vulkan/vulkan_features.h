// What Candor's kernels need of a Vulkan device, and what they use when it is there: one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/vulkan/vulkan_api.h"

namespace candor {

// What the driver says, chained as Vulkan wants it. Not copyable: the chain points into it.
struct VulkanCapabilities {
  VulkanCapabilities();
  VulkanCapabilities(const VulkanCapabilities&) = delete;
  VulkanCapabilities& operator=(const VulkanCapabilities&) = delete;

  VkPhysicalDeviceFeatures2 features =
      VulkanStruct<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features features11 =
      VulkanStruct<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features features12 =
      VulkanStruct<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceVulkan13Features features13 =
      VulkanStruct<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  VkPhysicalDeviceProperties2 properties =
      VulkanStruct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  VkPhysicalDeviceVulkan11Properties properties11 =
      VulkanStruct<VkPhysicalDeviceVulkan11Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  VkPhysicalDeviceVulkan12Properties properties12 =
      VulkanStruct<VkPhysicalDeviceVulkan12Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  VkPhysicalDeviceVulkan13Properties properties13 =
      VulkanStruct<VkPhysicalDeviceVulkan13Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES);
  std::vector<std::string> extensions;

  bool HasExtension(std::string_view name) const;
};

// Names of what is there ("shaderFloat16", "shaderIntegerDotProduct", "cooperativeMatrix", …).
std::vector<std::string> PresentFeatures(const VulkanCapabilities& capabilities);
// Names of what the kernels need and this device lacks; empty for a usable device.
std::vector<std::string> MissingFeatures(const VulkanCapabilities& capabilities);

}  // namespace candor
