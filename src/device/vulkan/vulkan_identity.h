// Who a Vulkan adapter is: everything that a report needs to name it, and what it has and lacks.
#pragma once

#include "device/device.h"
#include "device/vulkan/vulkan_instance.h"

namespace candor {

// All but the index and the verdict. A device of an API older than kMinVulkanVersion gets its basic facts and says so
// in `missing`. Names are bounded and counts checked: a driver may say anything.
DeviceInfo IdentifyVulkanAdapter(const VulkanInstance& instance, VkPhysicalDevice adapter);

// As the vendor writes it: NVIDIA packs 10.8.8.6 bits, others follow Vulkan's own 10.10.12.
std::string FormatDriverVersion(uint32_t vendor_id, uint32_t version);

}  // namespace candor
