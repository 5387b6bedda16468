#include "tensor/dequantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "base/check.h"

namespace candor {
namespace {

// Blocks and what the `gguf` Python package decodes them to; tools/make_dequant_fixtures.py.
struct Fixture {
  uint32_t type_id = 0;
  std::vector<std::byte> blocks;
  std::vector<float> elements;
};

Fixture ReadFixture(const std::string& name) {
  Fixture fixture;
  std::ifstream file("src/tensor/testdata/" + name + ".bin", std::ios::binary);
  uint32_t head[3] = {};
  file.read(reinterpret_cast<char*>(head), sizeof(head));
  fixture.type_id = head[0];
  fixture.elements.resize(head[1]);
  fixture.blocks.resize(head[2]);
  file.read(reinterpret_cast<char*>(fixture.blocks.data()), static_cast<std::streamsize>(fixture.blocks.size()));
  file.read(reinterpret_cast<char*>(fixture.elements.data()),
            static_cast<std::streamsize>(fixture.elements.size() * sizeof(float)));
  EXPECT_TRUE(file.good()) << "fixture of " << name << " is missing or cut short; tests run in the repository's root";
  return fixture;
}

class DequantizeFixture : public testing::TestWithParam<const char*> {};

TEST_P(DequantizeFixture, EqualsGgufPackageBitForBit) {
  const Fixture fixture = ReadFixture(GetParam());
  ASSERT_FALSE(fixture.elements.empty());
  const DTypeTraits* traits = FindDType(fixture.type_id);
  ASSERT_NE(traits, nullptr);
  EXPECT_EQ(traits->name, GetParam());
  std::vector<float> out(fixture.elements.size(), std::numeric_limits<float>::quiet_NaN());
  ASSERT_TRUE(Dequantize(traits->dtype, fixture.blocks, out).ok());
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(fixture.elements[i]))
        << GetParam() << " element " << i << ": " << out[i] << " against " << fixture.elements[i];
  }
}

// A block in the middle of a file may lie at any address.
TEST_P(DequantizeFixture, UnalignedBlocks) {
  const Fixture fixture = ReadFixture(GetParam());
  std::vector<std::byte> shifted(fixture.blocks.size() + 1);
  std::memcpy(shifted.data() + 1, fixture.blocks.data(), fixture.blocks.size());
  std::vector<float> out(fixture.elements.size());
  ASSERT_TRUE(Dequantize(FindDType(fixture.type_id)->dtype, std::span(shifted).subspan(1), out).ok());
  EXPECT_EQ(std::memcmp(out.data(), fixture.elements.data(), out.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(AllFormats, DequantizeFixture,
                         testing::Values("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K",
                                         "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Dequantize, F64IsRoundedToFloat) {
  const double values[] = {0.1, -2.5, 1e-320};
  float out[3] = {};
  ASSERT_TRUE(Dequantize(DType::kF64, std::as_bytes(std::span(values)), out).ok());
  EXPECT_EQ(out[0], 0.1f);
  EXPECT_EQ(out[1], -2.5f);
  EXPECT_EQ(out[2], 0.0f);
}

TEST(Dequantize, IntegersAreNotWeights) {
  const int32_t values[] = {1, 2};
  float out[2] = {};
  const Status status = Dequantize(DType::kI32, std::as_bytes(std::span(values)), out);
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("I32"), std::string::npos) << status.message();
}

TEST(Dequantize, NothingIsFine) { EXPECT_TRUE(Dequantize(DType::kQ4_K, {}, {}).ok()); }

#ifdef NDEBUG
TEST(Dequantize, SizesThatDisagreeAreOurBug) {
  std::vector<std::byte> blocks(18);
  std::vector<float> out(64);
  EXPECT_THROW((void)Dequantize(DType::kQ4_0, blocks, out), CheckFailure);
}
#endif

// The value of a half by the formula of IEEE 754-2008, section 3.4.
double HalfByFormula(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryHalfByFormulaAndBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if ((half & 0x7C00) == 0x7C00) {
      EXPECT_EQ(std::isinf(value), (half & 0x3FF) == 0);
      EXPECT_EQ(std::isnan(value), (half & 0x3FF) != 0);
      EXPECT_EQ(std::signbit(value), (half & 0x8000) != 0);
      if (std::isinf(value)) {
        EXPECT_EQ(FloatToHalf(value), half);
      }
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), HalfByFormula(half)) << bits;
    ASSERT_EQ(FloatToHalf(value), half);  // the sign of zero, too
  }
}

// Between two neighbouring halves: below the middle the lower, above the upper, in the middle the even one.
TEST(Half, RoundsToNearestEven) {
  for (uint16_t half = 0; half < 0x7BFF; ++half) {
    const float low = HalfToFloat(half);
    const float high = HalfToFloat(static_cast<uint16_t>(half + 1));
    const float middle = static_cast<float>((static_cast<double>(low) + high) / 2);  // exact: one bit more
    const uint16_t even = half % 2 == 0 ? half : static_cast<uint16_t>(half + 1);
    ASSERT_EQ(FloatToHalf(middle), even) << half;
    ASSERT_EQ(FloatToHalf(std::nextafterf(middle, 0.0f)), half);
    ASSERT_EQ(FloatToHalf(std::nextafterf(middle, 1e9f)), half + 1);
    ASSERT_EQ(FloatToHalf(-middle), even | 0x8000);
  }
}

TEST(Half, EdgesOfTheRange) {
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(std::nextafterf(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::max()), 0x7C00);
  EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::quiet_NaN()) & 0x7E00, 0x7E00);
}

TEST(BFloat16, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(BFloat16ToFloat(0x3F80), 1.0f);
  EXPECT_EQ(BFloat16ToFloat(0xC049), -3.140625f);
  EXPECT_TRUE(std::isinf(BFloat16ToFloat(0x7F80)));
}

}  // namespace
}  // namespace candor
