#include "device/device.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

TEST(Device, SelectorForms) {
  EXPECT_TRUE(ParseDeviceSelector("auto")->automatic);
  EXPECT_EQ(ParseDeviceSelector("cpu")->kind, DeviceKind::kCpu);
  const auto named = ParseDeviceSelector("vulkan:NVIDIA H200");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->kind, DeviceKind::kVulkan);
  EXPECT_EQ(named->detail, "NVIDIA H200");
  for (const char* bad : {"", "gpu", "cuda:", "CPU", "cpuX"}) {
    const auto selector = ParseDeviceSelector(bad);
    ASSERT_FALSE(selector.ok()) << bad;
    EXPECT_EQ(selector.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(selector.status().message().find("candor devices"), std::string::npos);
  }
}

TEST(Device, AGpuThatIsNotThereIsUnavailableAndNeverTheCpu) {
  for (const char* name : {"vulkan", "cuda", "vulkan:0", "cuda:3"}) {
    const auto chosen = ChooseDevice(*ParseDeviceSelector(name), true);
    ASSERT_FALSE(chosen.ok()) << name;
    EXPECT_EQ(chosen.status().code(), StatusCode::kUnavailable);
  }
}

TEST(Device, AutoSaysWhatItChoseAndWhy) {
  const auto chosen = ChooseDevice(DeviceSelector{}, false);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->info.kind, DeviceKind::kCpu);
  EXPECT_NE(chosen->reason.find("no GPU is usable"), std::string::npos);
}

TEST(Device, AnUnknownCpuListsWhatExists) {
  const auto chosen = ChooseDevice(*ParseDeviceSelector("cpu:7"), false);
  ASSERT_FALSE(chosen.ok());
  EXPECT_NE(chosen.status().message().find("cpu:0"), std::string::npos);
}

}  // namespace
}  // namespace candor
