// The shapes of matrices that a device multiplies in hardware, as VK_KHR_cooperative_matrix lists them.
#pragma once

#include <string>
#include <vector>

#include "device/vulkan/vulkan_instance.h"

namespace candor {

// "16x16x16 f16,f16,f32,f32 subgroup": M x N x K, the types of A, B, C and the result, and the scope. Empty when the
// driver has no such function, or says nothing sensible. Call it only for a device with the extension.
std::vector<std::string> CooperativeMatrixShapes(const VulkanInstance& instance, VkPhysicalDevice adapter);

}  // namespace candor
