#include "kernels/matmul/packed_matrix.h"

#include <gtest/gtest.h>

#include "kernels/matmul/matmul_test_data.h"

namespace candor {
namespace {

std::vector<int64_t> ColumnsOf(DType dtype) {
  const int64_t block = Traits(dtype).block_elements;
  if (block == 1) return {1, 3, 33, 640};
  return {block, 3 * block, block == 32 ? int64_t{576} : int64_t{2048}};
}

// Packing is layout only, so every ISA's layout is tested on every machine.
class PackedMatrixTest : public testing::TestWithParam<std::tuple<DType, CpuIsa>> {};

TEST_P(PackedMatrixTest, UnpackedRowsAreBitIdenticalToTheFile) {
  const auto [dtype, isa] = GetParam();
  std::mt19937 random(7);
  for (const int64_t rows : {1, 7, 8, 9, 16, 17, 33}) {
    for (const int64_t cols : ColumnsOf(dtype)) {
      const std::vector<std::byte> source = RandomWeights(dtype, rows, cols, random);
      const std::vector<float> expected = Decoded(dtype, source, rows * cols);
      ASSERT_EQ(expected.size(), static_cast<size_t>(rows * cols));
      const PackedCopy packed(dtype, isa, rows, cols, source);
      std::vector<float> row(cols);
      for (int64_t r = 0; r < rows; ++r) {
        UnpackRow(packed.matrix, r, row);
        ASSERT_EQ(std::memcmp(row.data(), &expected[r * cols], cols * sizeof(float)), 0)
            << "row " << r << " of " << rows << " x " << cols;
      }
    }
  }
}

TEST_P(PackedMatrixTest, DisjointRangesPackTheSameBytesAndNothingElse) {
  const auto [dtype, isa] = GetParam();
  std::mt19937 random(8);
  const int64_t tile = PackedTileRows(dtype, isa), rows = 4 * tile + 3, cols = Traits(dtype).block_elements * 2;
  const std::vector<std::byte> source = RandomWeights(dtype, rows, cols, random);
  const PackedCopy whole(dtype, isa, rows, cols, source);
  const AlignedBytes parts(whole.bytes.size());
  const auto rows_of = [&](int64_t first) {
    return std::span(source).subspan(source.size() / static_cast<size_t>(rows) * static_cast<size_t>(first));
  };
  PackRows(dtype, isa, rows, cols, rows_of(3 * tile), parts.span(), 3 * tile, rows);
  const size_t untouched = whole.bytes.size() / 5 * 3;
  for (size_t i = 0; i < untouched; ++i) ASSERT_EQ(parts.data()[i], std::byte{0xa5}) << i;
  PackRows(dtype, isa, rows, cols, rows_of(0), parts.span(), 0, 2 * tile);
  PackRows(dtype, isa, rows, cols, rows_of(2 * tile), parts.span(), 2 * tile, 3 * tile);
  EXPECT_EQ(std::memcmp(parts.data(), whole.bytes.data(), parts.size()), 0);
}

TEST_P(PackedMatrixTest, IsAboutAsLargeAsTheFile) {
  const auto [dtype, isa] = GetParam();
  const int64_t rows = 4096, cols = 2048;
  const double ratio = static_cast<double>(PackedBytes(dtype, isa, rows, cols).value()) /
                       static_cast<double>(*BytesOf(dtype, rows * cols));
  // Q2_K and Q3_K are kept as nibbles. The 6-bit scales of the other super-blocks become bytes: 4 bytes more on the 136
  // to 210 of a block.
  const double most = dtype == DType::kQ2_K ? 1.97 : dtype == DType::kQ3_K ? 1.35 : 1.04;
  EXPECT_LE(ratio, most);
  EXPECT_GE(ratio, 0.99);
}

std::string NameOf(const testing::TestParamInfo<std::tuple<DType, CpuIsa>>& info) {
  return std::string(DTypeName(std::get<0>(info.param))) + "_" + std::string(CpuIsaName(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(EveryType, PackedMatrixTest,
                         testing::Combine(testing::ValuesIn(kMatMulTypes), testing::ValuesIn(kAllCpuIsas)), NameOf);

TEST(PackedBytesTest, RefusesWhatNoKernelMultiplies) {
  for (const DType dtype : {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kF64}) {
    const Result<size_t> bytes = PackedBytes(dtype, CpuIsa::kScalar, 8, 32);
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.status().code(), StatusCode::kUnimplemented);
    EXPECT_NE(bytes.status().message().find(DTypeName(dtype)), std::string::npos) << bytes.status().message();
  }
}

TEST(PackedBytesTest, RefusesShapesThatAreNoMatrixOfTheType) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_EQ(PackedBytes(DType::kQ4_K, CpuIsa::kAvx2, 8, 32).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PackedBytes(DType::kQ8_0, CpuIsa::kAvx2, 0, 32).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PackedBytes(DType::kF32, CpuIsa::kAvx2, 1, -4).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PackedBytes(DType::kF32, CpuIsa::kAvx2, kHuge, 4).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PackedBytes(DType::kQ8_0, CpuIsa::kAvx512, 1, kHuge).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace candor
