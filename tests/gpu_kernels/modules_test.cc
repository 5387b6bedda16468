// The embedded kernels themselves: every row of the table is whole, fits every device that Candor asks for, and the
// right CUDA binary is chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "kernels/lib/gpu_launch.h"
#include "kernels/lib/gpu_modules.h"

namespace candor {
namespace {

TEST(GpuModules, EveryRowOfTheVariantTableIsBuilt) {
  std::ifstream table("src/kernels/gpu_modules.txt");
  std::set<std::string> wanted;
  for (std::string line; std::getline(table, line);) {
    if (!line.empty() && line[0] != '#') wanted.insert(line.substr(0, line.find(' ')));
  }
  std::set<std::string> got;
  for (const GpuModule& module : GpuModules()) got.insert(std::string(module.name));
  EXPECT_GT(wanted.size(), 30u);
  EXPECT_EQ(got, wanted);
}

TEST(GpuModules, EveryBinaryUnpacksToWhatItSays) {
  for (const GpuModule& module : GpuModules()) {
    ASSERT_NE(VulkanBinary(module), nullptr) << module.name;
    EXPECT_FALSE(module.entries.empty()) << module.name;
    for (const GpuEntry& entry : module.entries) EXPECT_LE(entry.threads, 256u) << module.name << "/" << entry.name;
    for (const GpuBinary& binary : module.binaries) {
      const auto bytes = UnpackGpuBinary(binary);
      ASSERT_TRUE(bytes.ok()) << module.name << ": " << bytes.status().message();
      ASSERT_GE(bytes->size(), 16u);
      const char* text = reinterpret_cast<const char*>(bytes->data());
      uint32_t magic;
      std::memcpy(&magic, text, 4);
      if (binary.target == GpuTarget::kSpirv) {
        EXPECT_EQ(magic, 0x07230203u) << module.name;
      }
      if (binary.target == GpuTarget::kCubin) {
        EXPECT_EQ(std::string(text + 1, 3), "ELF") << module.name;
      }
      if (binary.target == GpuTarget::kPtx) {
        EXPECT_NE(std::string(text, bytes->size()).find(".version 8."), std::string::npos) << module.name;
      }
    }
  }
}

// Shader, physical addresses, 64-bit, 16-bit and 8-bit integers, storage of 8 and 16 bits, shuffles, dot products of
// bytes.
TEST(GpuModules, NeedNothingThatAPlainVulkanDeviceLacks) {
  const std::set<uint32_t> allowed = {1, 11, 22, 39, 61, 65, 4433, 4448, 5347, 6018, 6019};
  for (const GpuModule& module : GpuModules()) {
    for (const uint32_t capability : module.spirv_capabilities) {
      EXPECT_EQ(allowed.count(capability), 1u) << module.name << " needs SPIR-V capability " << capability;
    }
  }
}

TEST(GpuModules, CudaBinaryIsTheNewestThatTheDeviceRuns) {
  constexpr GpuBinary kBinaries[] = {{GpuTarget::kSpirv, 0, 0, 0, 0},  {GpuTarget::kCubin, 75, 0, 0, 0},
                                     {GpuTarget::kCubin, 80, 0, 0, 0}, {GpuTarget::kCubin, 86, 0, 0, 0},
                                     {GpuTarget::kCubin, 90, 0, 0, 0}, {GpuTarget::kCubin, 120, 0, 0, 0},
                                     {GpuTarget::kPtx, 0, 0, 0, 0}};
  const GpuModule module{"m", {}, {}, kBinaries};
  const auto architecture = [&](uint32_t major, uint32_t minor) {
    const GpuBinary* binary = CudaBinary(module, major, minor);
    if (binary == nullptr) return std::string("none");
    return binary->target == GpuTarget::kPtx ? "ptx" : std::to_string(binary->architecture);
  };
  EXPECT_EQ(architecture(7, 0), "none");
  EXPECT_EQ(architecture(7, 5), "75");
  EXPECT_EQ(architecture(8, 0), "80");
  EXPECT_EQ(architecture(8, 7), "86");
  EXPECT_EQ(architecture(9, 0), "90");
  EXPECT_EQ(architecture(10, 3), "ptx");
  EXPECT_EQ(architecture(12, 1), "120");
  EXPECT_EQ(architecture(13, 0), "ptx");
}

TEST(GpuModules, DamageIsAnError) {
  ASSERT_GE(GpuModules().size(), 2u);
  GpuBinary wrong = GpuModules()[0].binaries[0];
  wrong.bytes += 4;
  EXPECT_EQ(UnpackGpuBinary(wrong).status().code(), StatusCode::kDataLoss);
  wrong = GpuModules()[0].binaries[0];
  wrong.offset += 1;
  EXPECT_EQ(UnpackGpuBinary(wrong).status().code(), StatusCode::kDataLoss);
}

TEST(GpuLaunchTest, GridsFold) {
  EXPECT_EQ(FoldGrid(5).x, 5u);
  EXPECT_EQ(FoldGrid(kGridFold).y, 1u);
  const GpuGrid folded = FoldGrid(uint64_t{kGridFold} * 3 + 1, 7);
  EXPECT_EQ(folded.x, kGridFold);
  EXPECT_EQ(folded.y, 4u);
  EXPECT_EQ(folded.z, 7u);
}

}  // namespace
}  // namespace candor
