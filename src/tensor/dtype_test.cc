#include "tensor/dtype.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

TEST(DType, NamesAndBlocks) {
  EXPECT_EQ(DTypeName(DType::kQ4_K), "Q4_K");
  EXPECT_EQ(Traits(DType::kQ6_K).block_bytes, 210u);
  EXPECT_TRUE(Traits(DType::kMXFP4).quantized);
  EXPECT_FALSE(Traits(DType::kBF16).quantized);
  EXPECT_EQ(FindDType(16), nullptr);
  EXPECT_EQ(FindDType(4000000000u), nullptr);
}

TEST(DType, UnknownTypesHaveNames) {
  EXPECT_EQ(GgmlTypeName(12), "Q4_K");
  EXPECT_EQ(GgmlTypeName(16), "IQ2_XXS");
  EXPECT_EQ(GgmlTypeName(40), "NVFP4");
  EXPECT_EQ(GgmlTypeName(31), "Q4_0_4_4 (removed from GGUF)");
  EXPECT_EQ(GgmlTypeName(77), "type 77");
}

TEST(DType, BytesOfWholeBlocks) {
  EXPECT_EQ(BytesOf(DType::kF32, 3), 12u);
  EXPECT_EQ(BytesOf(DType::kQ4_1, 64), 40u);
  EXPECT_EQ(BytesOf(DType::kQ4_1, 65), std::nullopt);
  EXPECT_EQ(BytesOf(DType::kF64, uint64_t{1} << 61), std::nullopt);  // 2^64 bytes
  EXPECT_EQ(BytesOf(DType::kQ8_0, 0), 0u);
}

}  // namespace
}  // namespace candor
