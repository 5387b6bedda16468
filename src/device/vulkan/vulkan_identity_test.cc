#include "device/vulkan/vulkan_identity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "device/vulkan/vulkan_features.h"

namespace candor {
namespace {

TEST(VulkanIdentity, DriverVersionsAsVendorsWriteThem) {
  EXPECT_EQ(FormatDriverVersion(0x10DE, (580u << 22) | (95u << 14) | (5u << 6) | 1u), "580.95.5.1");
  EXPECT_EQ(FormatDriverVersion(0x1002, VK_MAKE_API_VERSION(0, 22, 3, 6)), "22.3.6");
}

TEST(VulkanIdentity, ErrorsHaveNamesAndCodes) {
  EXPECT_EQ(VulkanError("vkX", VK_ERROR_OUT_OF_DEVICE_MEMORY).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(VulkanError("vkX", VK_ERROR_DEVICE_LOST).message(), "vulkan vkX: VK_ERROR_DEVICE_LOST (-4)");
  const Status unknown = VulkanError("vkX", static_cast<VkResult>(-12345));
  EXPECT_EQ(unknown.code(), StatusCode::kUnavailable);
  EXPECT_NE(unknown.message().find("(-12345)"), std::string::npos);
}

// A device that has all that the kernels need.
void FillUsable(VulkanCapabilities& c) {
  c.features.features.shaderInt64 = c.features.features.shaderInt16 = VK_TRUE;
  c.features11.storageBuffer16BitAccess = VK_TRUE;
  c.features12.bufferDeviceAddress = c.features12.shaderInt8 = c.features12.storageBuffer8BitAccess = VK_TRUE;
  c.features12.scalarBlockLayout = c.features12.timelineSemaphore = VK_TRUE;
  c.features13.synchronization2 = c.features13.maintenance4 = VK_TRUE;
  c.properties11.subgroupSize = 32;
  c.properties11.subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  c.properties11.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  c.properties.properties.limits.maxComputeSharedMemorySize = 32768;
  c.properties.properties.limits.maxPushConstantsSize = 128;
}

TEST(VulkanFeatures, AUsableDeviceLacksNothing) {
  VulkanCapabilities c;
  FillUsable(c);
  EXPECT_TRUE(MissingFeatures(c).empty());
  const auto present = PresentFeatures(c);
  EXPECT_NE(std::find(present.begin(), present.end(), "bufferDeviceAddress"), present.end());
  EXPECT_EQ(std::find(present.begin(), present.end(), "shaderFloat16"), present.end());
}

TEST(VulkanFeatures, EachLackIsNamed) {
  VulkanCapabilities nothing;
  EXPECT_EQ(MissingFeatures(nothing).size(), 14u);
  VulkanCapabilities c;
  FillUsable(c);
  c.features12.bufferDeviceAddress = VK_FALSE;
  c.properties11.subgroupSize = 24;  // no power of two
  c.properties.properties.limits.maxComputeSharedMemorySize = 16384;
  EXPECT_EQ(MissingFeatures(c), (std::vector<std::string>{"bufferDeviceAddress", "subgroups of 4 to 128 lanes",
                                                          "32 KiB of shared memory"}));
}

}  // namespace
}  // namespace candor
