#include "device/vulkan/vulkan_features.h"

#include <algorithm>

namespace candor {
namespace {

constexpr uint32_t kMinSharedMemory = 32u << 10;  // bytes a workgroup
constexpr uint32_t kMinPushConstants = 128;       // bytes
constexpr uint32_t kMinSubgroup = 4;              // lanes
constexpr uint32_t kMaxSubgroup = 128;

struct Feature {
  const char* name;
  bool required;
  bool (*present)(const VulkanCapabilities& c);
};

bool HasSubgroupOps(const VulkanCapabilities& c, VkSubgroupFeatureFlags wanted) {
  return (c.properties11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
         (c.properties11.subgroupSupportedOperations & wanted) == wanted;
}

// Required: what every kernel is written with. The rest makes kernels faster where a self-test admits it.
constexpr Feature kFeatures[] = {
    {"bufferDeviceAddress", true, [](const VulkanCapabilities& c) { return c.features12.bufferDeviceAddress != 0; }},
    {"shaderInt64", true, [](const VulkanCapabilities& c) { return c.features.features.shaderInt64 != 0; }},
    {"shaderInt16", true, [](const VulkanCapabilities& c) { return c.features.features.shaderInt16 != 0; }},
    {"shaderInt8", true, [](const VulkanCapabilities& c) { return c.features12.shaderInt8 != 0; }},
    {"storageBuffer16BitAccess", true,
     [](const VulkanCapabilities& c) { return c.features11.storageBuffer16BitAccess != 0; }},
    {"storageBuffer8BitAccess", true,
     [](const VulkanCapabilities& c) { return c.features12.storageBuffer8BitAccess != 0; }},
    {"scalarBlockLayout", true, [](const VulkanCapabilities& c) { return c.features12.scalarBlockLayout != 0; }},
    {"timelineSemaphore", true, [](const VulkanCapabilities& c) { return c.features12.timelineSemaphore != 0; }},
    {"synchronization2", true, [](const VulkanCapabilities& c) { return c.features13.synchronization2 != 0; }},
    {"maintenance4", true, [](const VulkanCapabilities& c) { return c.features13.maintenance4 != 0; }},
    {"subgroup shuffle in compute shaders", true,
     [](const VulkanCapabilities& c) {
       return HasSubgroupOps(c, VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
     }},
    {"subgroups of 4 to 128 lanes", true,
     [](const VulkanCapabilities& c) {
       const uint32_t size = c.properties11.subgroupSize;
       return size >= kMinSubgroup && size <= kMaxSubgroup && (size & (size - 1)) == 0;
     }},
    {"32 KiB of shared memory", true,
     [](const VulkanCapabilities& c) {
       return c.properties.properties.limits.maxComputeSharedMemorySize >= kMinSharedMemory;
     }},
    {"128 bytes of push constants", true,
     [](const VulkanCapabilities& c) {
       return c.properties.properties.limits.maxPushConstantsSize >= kMinPushConstants;
     }},
    {"shaderFloat16", false, [](const VulkanCapabilities& c) { return c.features12.shaderFloat16 != 0; }},
    {"shaderFloat64", false, [](const VulkanCapabilities& c) { return c.features.features.shaderFloat64 != 0; }},
    {"shaderIntegerDotProduct", false,
     [](const VulkanCapabilities& c) { return c.features13.shaderIntegerDotProduct != 0; }},
    {"int8DotProductAccelerated", false,
     [](const VulkanCapabilities& c) { return c.properties13.integerDotProduct4x8BitPackedSignedAccelerated != 0; }},
    {"vulkanMemoryModel", false,
     [](const VulkanCapabilities& c) {
       return c.features12.vulkanMemoryModel != 0 && c.features12.vulkanMemoryModelDeviceScope != 0;
     }},
    {"subgroupSizeControl", false, [](const VulkanCapabilities& c) { return c.features13.subgroupSizeControl != 0; }},
    {"computeFullSubgroups", false, [](const VulkanCapabilities& c) { return c.features13.computeFullSubgroups != 0; }},
    {"hostQueryReset", false, [](const VulkanCapabilities& c) { return c.features12.hostQueryReset != 0; }},
    {"timestamps", false,
     [](const VulkanCapabilities& c) {
       return c.properties.properties.limits.timestampComputeAndGraphics != 0 &&
              c.properties.properties.limits.timestampPeriod > 0;
     }},
    {"cooperativeMatrix", false,
     [](const VulkanCapabilities& c) { return c.HasExtension("VK_KHR_cooperative_matrix"); }},
    {"cooperativeMatrix2", false,
     [](const VulkanCapabilities& c) { return c.HasExtension("VK_NV_cooperative_matrix2"); }},
    {"shaderBfloat16", false, [](const VulkanCapabilities& c) { return c.HasExtension("VK_KHR_shader_bfloat16"); }},
    {"memoryBudget", false,
     [](const VulkanCapabilities& c) { return c.HasExtension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME); }},
};

}  // namespace

VulkanCapabilities::VulkanCapabilities() {
  features.pNext = &features11;
  features11.pNext = &features12;
  features12.pNext = &features13;
  properties.pNext = &properties11;
  properties11.pNext = &properties12;
  properties12.pNext = &properties13;
}

bool VulkanCapabilities::HasExtension(std::string_view name) const {
  return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
}

std::vector<std::string> PresentFeatures(const VulkanCapabilities& capabilities) {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    const std::string_view name = feature.name;
    if (name.find(' ') == std::string_view::npos && feature.present(capabilities)) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> MissingFeatures(const VulkanCapabilities& capabilities) {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    if (feature.required && !feature.present(capabilities)) names.emplace_back(feature.name);
  }
  return names;
}

}  // namespace candor
