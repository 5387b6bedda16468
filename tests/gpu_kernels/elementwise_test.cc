// The ops that treat each row or value alone: rms_norm, rope, gated_activation, add, select_rows, embedding, argmax,
// quantize_rows.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "gpu_test.h"
#include "kernels/add/gpu.h"
#include "kernels/argmax/gpu.h"
#include "kernels/embedding/gpu.h"
#include "kernels/gated_activation/gpu.h"
#include "kernels/matmul/gpu.h"
#include "kernels/matmul/matmul_test_data.h"
#include "kernels/rms_norm/gpu.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/gpu.h"
#include "kernels/select_rows/gpu.h"

namespace candor {
namespace {

constexpr uint32_t kWidths[] = {1, 3, 31, 64, 255, 256, 257, 1000};

class GpuElementwise : public GpuTest {
 protected:
  // A row of floats that a kernel changes in place.
  GpuFloats InPlace(const std::vector<float>& values) {
    GpuFloats floats = Floats(values.size());
    std::copy(values.begin(), values.end(), floats.values().begin());
    return floats;
  }

  struct NormCase {
    uint32_t rows = 1;
    uint32_t width = 1;
    uint32_t groups = 1;
    bool weighted = true;
    float magnitude = 1.0f;
    float eps = 1e-5f;
  };
  void RunNorm(const NormCase& c) {
    const uint32_t stride = c.width * c.groups + 3;
    TestRandom random(c.width);
    const std::vector<float> x = random.Normals(size_t{c.rows} * stride, c.magnitude);
    const std::vector<float> w = random.Normals(c.width);
    GpuFloats y = Floats(x.size());
    std::vector<Expected> want(x.size(), {std::nan(""), 0.0});
    std::vector<double> group(c.width);
    for (uint32_t i = 0; i < c.rows * c.groups; ++i) {
      const uint32_t begin = i / c.groups * stride + i % c.groups * c.width;
      ReferenceRmsNorm(x.data() + begin, c.weighted ? w.data() : nullptr, c.width, c.eps, group.data());
      for (uint32_t j = 0; j < c.width; ++j) {
        want[begin + j] = {group[j], (SumRoundoff(c.width) + 12.0 * kRoundoff) * std::abs(group[j]) + 0x1p-140};
      }
    }
    Run(GpuRmsNorm({Upload(x), c.weighted ? Upload(w) : 0, y.address(), stride, stride, c.width, c.eps}, c.rows,
                   c.groups));
    Check(fmt::format("rms_norm {} x {} x {}, magnitude {}", c.rows, c.groups, c.width, c.magnitude), y, want);
  }
};

TEST_F(GpuElementwise, RmsNorm) {
  for (const uint32_t width : kWidths) {
    RunNorm({.rows = 2, .width = width});
    RunNorm({.rows = 1, .width = width, .weighted = false});
    RunNorm({.rows = 3, .width = width, .groups = 4});
  }
  RunNorm({.rows = 1, .width = 4096});
}

TEST_F(GpuElementwise, RmsNormOfExtremeMagnitudes) {
  RunNorm({.rows = 2, .width = 577, .magnitude = 1e30f});  // squares beyond float
  RunNorm({.rows = 2, .width = 577, .magnitude = 1e-30f, .eps = 0.0f});
  RunNorm({.rows = 2, .width = 577, .magnitude = 1e-3f});
}

TEST_F(GpuElementwise, RmsNormOfZerosAndOfNonFiniteValues) {
  std::vector<float> x(3 * 17, 1.0f);
  std::fill_n(x.begin(), 17, 0.0f);
  x[17 + 3] = std::nanf("");
  x[34 + 3] = std::numeric_limits<float>::infinity();
  GpuFloats y = Floats(x.size());
  Run(GpuRmsNorm({Upload(x), 0, y.address(), 17, 17, 17, 0.0f}, 3, 1));
  for (uint32_t i = 0; i < 17; ++i) {
    EXPECT_EQ(y.values()[i], 0.0f);
    EXPECT_TRUE(std::isnan(y.values()[17 + i])) << i;
  }
  EXPECT_TRUE(std::isnan(y.values()[34 + 3]));
}

TEST_F(GpuElementwise, Rope) {
  for (const RopePairing pairing : {RopePairing::kHalf, RopePairing::kAdjacent}) {
    for (const auto& [heads, head_dim, n_rot] :
         {std::tuple{1u, 2u, 2u}, {3u, 64u, 64u}, {9u, 80u, 32u}, {2u, 256u, 6u}}) {
      const uint32_t rows = 3;
      const uint32_t stride = heads * head_dim + 5;
      TestRandom random(head_dim);
      const std::vector<float> x = random.Normals(size_t{rows} * stride);
      std::vector<double> frequency(n_rot / 2);
      for (uint32_t i = 0; i < n_rot / 2; ++i) frequency[i] = std::pow(10000.0, -2.0 * i / n_rot);
      std::vector<float> table;
      std::vector<Expected> want(x.size());
      for (size_t i = 0; i < x.size(); ++i) want[i] = {x[i], 0.0};
      std::vector<double> head(head_dim);
      for (uint32_t r = 0; r < rows; ++r) {
        const int64_t position = 1000 * r + 7;  // row r of the table
        for (uint32_t i = 0; i < n_rot; ++i) {
          const double angle = static_cast<double>(position) * frequency[i % (n_rot / 2)];
          table.push_back(static_cast<float>(1.25 * (i < n_rot / 2 ? std::cos(angle) : std::sin(angle))));
        }
        for (uint32_t h = 0; h < heads; ++h) {
          const size_t begin = (r + 1) % rows * stride + h * head_dim;
          ReferenceRope(x.data() + begin, position, frequency.data(), 1.25, static_cast<int32_t>(head_dim),
                        static_cast<int32_t>(n_rot), pairing, head.data());
          for (uint32_t i = 0; i < n_rot; ++i) want[begin + i] = {head[i], 4.0 * 1.25 * kRoundoff * 8.0};
          for (uint32_t i = n_rot; i < head_dim; ++i) EXPECT_EQ(head[i], x[begin + i]);
        }
      }
      GpuFloats y = InPlace(x);
      const DeviceAddress position = Upload(std::vector<int32_t>{2, 0, 1});
      Run(GpuRope({y.address(), Upload(table), position, stride, heads, head_dim, n_rot}, rows, pairing));
      Check(fmt::format("rope {} heads of {}, {} rotated", heads, head_dim, n_rot), y, want);
    }
  }
}

TEST_F(GpuElementwise, GatedActivation) {
  for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh, Activation::kGelu}) {
    for (const uint32_t width : kWidths) {
      TestRandom random(width);
      std::vector<float> gate = random.Normals(2 * width, 4.0f);
      gate[0] = -30.0f;
      const std::vector<float> up = random.Normals(2 * width);
      GpuFloats y = Floats(2 * (width + 1));
      std::vector<Expected> want(2 * (width + 1), {std::nan(""), 0.0});
      for (uint32_t i = 0; i < 2 * width; ++i) {
        const double value = ReferenceActivation(activation, gate[i]) * up[i];
        // An exponential of a float argument x carries 2 |x| roundoffs of that argument.
        const double argument = std::abs(gate[i]) * (1.0 + std::abs(gate[i]) * (1.0 + 0.05 * std::abs(gate[i])));
        want[i / width * (width + 1) + i % width] = {value,
                                                     (24.0 + 6.0 * argument) * kRoundoff * std::abs(value) + 0x1p-118};
      }
      Run(GpuGatedActivation({Upload(gate), Upload(up), y.address(), width, width, width + 1, width}, 2, activation));
      Check(fmt::format("activation {} width {}", static_cast<int>(activation), width), y, want);
    }
  }
}

TEST_F(GpuElementwise, Add) {
  for (const uint32_t width : kWidths) {
    const uint32_t stride = width + 1;
    TestRandom random(width);
    const std::vector<float> a = random.Normals(2 * stride);
    const std::vector<float> b = random.Normals(2 * stride);
    GpuFloats y = Floats(2 * stride);
    std::vector<Expected> want(2 * stride, {std::nan(""), 0.0});
    for (uint32_t i = 0; i < 2 * stride; ++i) {
      if (i % stride < width) want[i] = {a[i] + b[i], 0.0};
    }
    Run(GpuAdd({Upload(a), Upload(b), y.address(), stride, width}, 2));
    Check(fmt::format("add {}", width), y, want);
  }
}

TEST_F(GpuElementwise, SelectRows) {
  const std::vector<float> x = {1, 2, 0, 3, 4, 0, 5, 6, 0};  // three rows of two values, stride 3
  const std::vector<int32_t> index = {2, 0, -1};
  GpuFloats y = Floats(9);
  Run(GpuSelectRows({Upload(x), Upload(index), y.address(), 3, 3, 2, 0}, 3));
  const double nan = std::nan("");
  const std::vector<Expected> want = {{5, 0}, {6, 0}, {nan, 0}, {1, 0}, {2, 0}, {nan, 0}, {0, 0}, {0, 0}, {nan, 0}};
  Check("select_rows", y, want);
}

TEST_F(GpuElementwise, EmbeddingOfEveryType) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                            DType::kQ5_1, DType::kQ8_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K}) {
    const uint32_t block = Traits(dtype).block_elements;
    for (const uint32_t width : {block, block == 1 ? 577u : 3 * block}) {
      std::mt19937 random(width);
      const std::vector<std::byte> blocks = RandomWeights(dtype, 5, width, random);
      const std::vector<float> table = Decoded(dtype, blocks, 5 * width);
      const std::vector<int32_t> ids = {4, 0, 3, -1};
      const uint32_t stride = width + 1;
      GpuFloats y = Floats(4 * stride);
      std::vector<Expected> want(4 * stride, {std::nan(""), 0.0});
      for (uint32_t i = 0; i < 4 * width; ++i) {
        const int32_t id = ids[i / width];
        want[i / width * stride + i % width] = {id < 0 ? 0.0f : table[id * width + i % width] * 1.5f, 0.0};
      }
      Run(GpuEmbedding(dtype,
                       {Upload(blocks), Upload(ids), y.address(), static_cast<uint32_t>(*BytesOf(dtype, width)), width,
                        stride, 1.5f},
                       4));
      Check(fmt::format("embedding {} {}", DTypeName(dtype), width), y, want);
    }
  }
}

class GpuArgmaxTest : public GpuTest {
 protected:
  std::vector<ArgmaxResult> Of(const std::vector<float>& x, uint32_t rows) {
    const auto width = static_cast<uint32_t>(x.size() / rows);
    ArgmaxGpuParams params{};
    params.splits = GpuArgmaxSplits(width);
    const GpuMemory parts = Memory(rows * params.splits * sizeof(ArgmaxResult));
    const GpuMemory y = Memory(rows * sizeof(ArgmaxResult));
    std::memset(y.host, 0xff, y.bytes);
    params.x = Upload(x);
    params.parts = parts.address;
    params.y = y.address;
    params.x_stride = width;
    params.width = width;
    Run(GpuArgmaxParts(params, rows));
    Run(GpuArgmaxRows(params, rows));
    std::vector<ArgmaxResult> results(rows);
    std::memcpy(results.data(), y.host, y.bytes);
    return results;
  }
};

TEST_F(GpuArgmaxTest, GreatestValueLowestIndex) {
  for (const uint32_t width : {1u, 2u, 255u, 256u, 257u, 4097u, 151936u}) {
    TestRandom random(width);
    std::vector<float> x = random.Normals(2 * width);
    for (uint32_t row = 0; row < 2; ++row) {
      const uint32_t at = static_cast<uint32_t>(random.Bits() % width);
      x[row * width + at] = 50.0f;
      x[row * width + width - 1] = 50.0f;
      const ArgmaxResult result = Of(x, 2)[row];
      EXPECT_EQ(result.index, at) << width;
      EXPECT_EQ(result.greatest, 50.0f);
      EXPECT_EQ(result.nonfinite, 0u);
      EXPECT_EQ(result.least, *std::min_element(x.begin() + row * width, x.begin() + (row + 1) * width));
    }
  }
}

TEST_F(GpuArgmaxTest, BrokenRowsAreSeen) {
  std::vector<float> x(3 * 300, -7.0f);
  x[300 + 17] = std::nanf("");
  x[300 + 200] = std::numeric_limits<float>::infinity();
  std::fill(x.begin() + 600, x.end(), std::nanf(""));
  const std::vector<ArgmaxResult> results = Of(x, 3);
  EXPECT_EQ(results[0].index, 0u);
  EXPECT_EQ(results[0].greatest, results[0].least);
  EXPECT_EQ(results[1].nonfinite, 2u);
  EXPECT_EQ(results[1].index, 200u);
  EXPECT_EQ(results[2].nonfinite, 300u);
  EXPECT_LT(results[2].index, 300u);
}

class GpuQuantizeTest : public GpuTest {};

TEST_F(GpuQuantizeTest, CodesScalesAndSums) {
  for (const uint32_t k : {1u, 31u, 32u, 64u, 100u, 576u}) {
    const uint32_t stride = (k + 63) / 64 * 64;
    TestRandom random(k);
    const uint32_t x_stride = (k + 3) / 4 * 4;
    std::vector<float> x = random.Normals(2 * x_stride);
    if (k >= 64) std::fill_n(x.begin() + 32, 32, 0.0f);
    const GpuMemory codes = Memory(2 * stride);
    const GpuMemory scales = Memory(2 * stride / 32 * 8);
    std::memset(codes.host, 0x55, codes.bytes);
    std::memset(scales.host, 0xff, scales.bytes);
    Run(GpuQuantizeRows({Upload(x), codes.address, scales.address, 2, k, x_stride, stride}));
    const auto* code = reinterpret_cast<const int8_t*>(codes.host);
    const auto* scale = reinterpret_cast<const float*>(scales.host);
    for (uint32_t g = 0; g < 2 * stride / 32; ++g) {
      const uint32_t row = g * 32 / stride;
      const uint32_t begin = g * 32 % stride;
      const uint32_t count = begin < k ? std::min(32u, k - begin) : 0;
      float largest = 0.0f;
      for (uint32_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[row * x_stride + begin + i]));
      EXPECT_NEAR(scale[2 * g], largest / 127.0f, 1e-7f * largest);
      int sum = 0;
      for (uint32_t i = 0; i < 32; ++i) {
        const double exact = i < count && largest > 0 ? x[row * x_stride + begin + i] * 127.0 / largest : 0.0;
        EXPECT_NEAR(code[g * 32 + i], exact, 0.5 + 1e-4) << k << " group " << g << " value " << i;
        sum += code[g * 32 + i];
      }
      EXPECT_NEAR(scale[2 * g + 1], scale[2 * g] * static_cast<float>(sum), 1e-6f * std::abs(scale[2 * g] * sum));
    }
  }
}

TEST_F(GpuQuantizeTest, NonFiniteValuesMakeAScaleOfNaN) {
  std::vector<float> x(64, 1.0f);
  x[40] = std::numeric_limits<float>::infinity();
  const GpuMemory codes = Memory(64);
  const GpuMemory scales = Memory(16);
  Run(GpuQuantizeRows({Upload(x), codes.address, scales.address, 1, 64, 64, 64}));
  const auto* scale = reinterpret_cast<const float*>(scales.host);
  EXPECT_TRUE(std::isfinite(scale[0]));
  EXPECT_TRUE(std::isnan(scale[2]));
}

}  // namespace
}  // namespace candor
