#include "device/gpu_identity.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

struct Row {
  const char* name;
  const char* type;
  uint32_t vendor;
  uint32_t driver;
  const char* driver_name;
  bool software;
};

TEST(SoftwareAdapter, EachTellTaleAloneIsEnough) {
  const Row rows[] = {
      {"NVIDIA H200", "discrete", 0x10DE, 4, "NVIDIA", false},
      {"AMD Radeon RX 7900 XTX (RADV NAVI31)", "discrete", 0x1002, 3, "radv", false},
      {"Intel(R) Arc(tm) A770 Graphics (DG2)", "discrete", 0x8086, 6, "Intel open-source Mesa driver", false},
      {"Virtio-GPU Venus (NVIDIA L4)", "virtual", 0x10DE, 22, "venus", false},
      {"Any Name", "cpu", 0x1234, 99, "any", true},
      {"LLVMpipe (LLVM 15.0.6, 256 bits)", "discrete", 0x10DE, 99, "any", true},
      {"SwiftShader Device (Subzero)", "other", 0, 0, "", true},
      {"Hidden", "discrete", 0x10DE, 13, "", true},
      {"Hidden", "discrete", 0x10DE, 10, "", true},
      {"Hidden", "discrete", 0x10005, 99, "", true},
      {"Hidden", "discrete", 0x1AE0, 99, "", true},
      {"Hidden", "discrete", 0x10DE, 99, "llvmpipe", true},
      {"Microsoft Direct3D12 (Microsoft Basic Render Driver)", "virtual", 0x1414, 23, "Dozen", true},
      {"Virtio-GPU Venus (llvmpipe (LLVM 15))", "virtual", 0x10DE, 22, "venus", true},
  };
  for (const Row& row : rows) {
    GpuIdentity gpu;
    gpu.device_type = row.type;
    gpu.vendor_id = row.vendor;
    gpu.driver_id = row.driver;
    gpu.driver_name = row.driver_name;
    EXPECT_EQ(!SoftwareTellTale(row.name, gpu).empty(), row.software) << row.name << ", driver " << row.driver;
  }
}

TEST(GpuIdentity, Uuids) {
  const uint8_t bytes[16] = {0x8f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff};
  EXPECT_EQ(FormatUuid(bytes), "8f010203-0405-0607-0809-0a0b0c0d0eff");
  const uint8_t zero[16] = {};
  EXPECT_EQ(FormatUuid(zero), "");
}

TEST(GpuIdentity, TextOfADriverIsBoundedAndPrintable) {
  EXPECT_EQ(DriverText("NVIDIA H200\0garbage", 19), "NVIDIA H200");
  EXPECT_EQ(DriverText("no end", 4), "no e");
  EXPECT_EQ(DriverText("\x1b[2Jx", 5), "\\x1b[2Jx");
  EXPECT_EQ(DriverText("\xff\xfe", 2), "\\xff\\xfe");
  EXPECT_EQ(DriverText("Intel\xc2\xae", 7), "Intel\xc2\xae");
}

}  // namespace
}  // namespace candor
