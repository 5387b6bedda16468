// Products: every weight type, row count and tail against the double reference.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>

#include "gpu_test.h"
#include "kernels/gated_activation/gated_activation.h"
#include "kernels/lib/gpu_weights.h"
#include "kernels/matmul/gpu.h"
#include "kernels/matmul/matmul_test_data.h"

namespace candor {
namespace {

constexpr DType kWeightTypes[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                                  DType::kQ5_1, DType::kQ8_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K};

struct Case {
  DType dtype = DType::kF32;
  uint32_t rows = 1;
  uint32_t n = 1;
  uint32_t k = 1;
};

std::string NameOf(const Case& c) { return fmt::format("{} {} x {} x {}", DTypeName(c.dtype), c.rows, c.n, c.k); }

class GpuMatMulTest : public GpuTest {
 protected:
  // One problem in device memory. Strides are wider than they must be; what lies between rows is NaN.
  struct Problem {
    MatMulGpuParams params;
    std::vector<float> x;  // [rows, k]
    std::vector<float> w;  // [n, k], decoded
    GpuFloats y;           // [rows, y_stride]
    std::vector<float> bias;
    std::vector<float> residual;
    std::vector<float> gate;
  };

  Problem Make(const Case& c) {
    Problem p;
    std::mt19937 random(static_cast<uint32_t>(GTEST_FLAG_GET(random_seed)) + c.rows + 7 * c.n + 77 * c.k);
    const std::vector<std::byte> blocks = RandomWeights(c.dtype, c.n, c.k, random);
    p.w = Decoded(c.dtype, blocks, int64_t{c.n} * c.k);
    TestRandom numbers(c.rows);
    p.x = numbers.Normals(size_t{c.rows} * c.k);
    p.params = GpuMatMulShape(c.dtype, c.rows, c.n, c.k);
    p.params.x_stride += 4;
    p.params.y_stride = c.n + 3;
    p.params.w = Upload(blocks);
    p.params.x = Upload(Strided(p.x, c.rows, c.k, p.params.x_stride));
    p.y = Floats(size_t{c.rows} * p.params.y_stride);
    p.params.y = p.y.address();
    p.bias = numbers.Normals(c.n);
    p.residual = numbers.Normals(size_t{c.rows} * c.n);
    p.gate = numbers.Normals(size_t{c.rows} * c.n, 3.0f);
    p.params.tail.bias = Upload(p.bias);
    p.params.tail.residual_stride = c.n + 1;
    p.params.tail.residual = Upload(Strided(p.residual, c.rows, c.n, c.n + 1));
    p.params.tail.gate_stride = c.n + 2;
    p.params.tail.gate = Upload(Strided(p.gate, c.rows, c.n, c.n + 2));
    p.params.tail.scale = 0.37f;
    p.params.tail.softcap = 2.5f;
    return p;
  }

  static std::vector<float> Strided(const std::vector<float>& values, uint32_t rows, uint32_t width, uint32_t stride) {
    std::vector<float> result(size_t{rows} * stride, std::nanf(""));
    for (uint32_t r = 0; r < rows; ++r) std::copy_n(values.data() + r * width, width, result.data() + r * stride);
    return result;
  }

  // The product in double with the tolerance of k float additions of x (as the kernel sees it) times w.
  static std::vector<Expected> Products(const Problem& p, const std::vector<float>& x) {
    const MatMulGpuParams& shape = p.params;
    std::vector<double> y(size_t{shape.rows} * shape.n);
    ReferenceMatMul(x.data(), p.w.data(), nullptr, nullptr, shape.rows, shape.n, shape.k, y.data());
    std::vector<Expected> want(y.size());
    for (uint32_t r = 0; r < shape.rows; ++r) {
      for (uint32_t i = 0; i < shape.n; ++i) {
        double magnitude = 0.0;
        for (uint32_t j = 0; j < shape.k; ++j) {
          magnitude += std::abs(static_cast<double>(x[size_t{r} * shape.k + j]) * p.w[size_t{i} * shape.k + j]);
        }
        want[r * shape.n + i] = {y[r * shape.n + i], SumRoundoff(shape.k + 8) * magnitude + 0x1p-140};
      }
    }
    return want;
  }

  // The tail's formula in double; the tolerance grows by the tail's own operations.
  static Expected Tail(const Problem& p, uint32_t row, uint32_t column, Expected v, uint32_t kind) {
    const size_t at = size_t{row} * p.params.n + column;
    const double bias = p.bias[column];
    const double residual = p.residual[at];
    const double gate = p.gate[at];
    const auto gated = [&](Activation activation) {
      const double factor = ReferenceActivation(activation, gate);
      const double roundoffs = 16.0 + 6.0 * gate * gate;
      return Expected{factor * v.value,
                      std::abs(factor) * (v.tolerance + roundoffs * kRoundoff * std::abs(v.value)) + 0x1p-140};
    };
    switch (kind) {
      case kTailBias:
        return {v.value + bias, v.tolerance + kRoundoff * std::abs(v.value + bias)};
      case kTailResidual:
        return {v.value + residual, v.tolerance + kRoundoff * std::abs(v.value + residual)};
      case kTailBiasResidual: {
        const double sum = v.value + bias + residual;
        return {sum, v.tolerance + kRoundoff * (std::abs(v.value + bias) + std::abs(sum))};
      }
      case kTailSiluGate:
        return gated(Activation::kSilu);
      case kTailGeluTanhGate:
        return gated(Activation::kGeluTanh);
      case kTailGeluGate:
        return gated(Activation::kGelu);
      case kTailScaleSoftcap: {
        const double cap = p.params.tail.softcap;
        const double scale = p.params.tail.scale;
        const double capped = cap * std::tanh(scale * v.value / cap);
        return {capped, scale * v.tolerance + kRoundoff * (32.0 * std::abs(capped) + 4.0 * cap)};
      }
      default:
        return v;
    }
  }

  void CheckOutput(const std::string& what, const Problem& p, const std::vector<Expected>& products, uint32_t kind) {
    const MatMulGpuParams& shape = p.params;
    std::vector<Expected> want(size_t{shape.rows} * shape.y_stride, {std::nan(""), 0.0});
    for (uint32_t r = 0; r < shape.rows; ++r) {
      for (uint32_t i = 0; i < shape.n; ++i) {
        want[r * shape.y_stride + i] = Tail(p, r, i, products[r * shape.n + i], kind);
      }
    }
    Check(fmt::format("{}, tail {}", what, kind), p.y, want);
  }

  void RunCase(const Case& c) {
    Problem p = Make(c);
    Run(GpuMatMul(c.dtype, p.params, shape()));
    CheckOutput(NameOf(c), p, Products(p, p.x), kTailNone);
  }

  // Quantises x on the device. Returns what the product sees: scale * code.
  std::vector<float> Quantize(Problem& p) {
    const MatMulGpuParams& shape = p.params;
    const size_t groups = size_t{shape.rows} * shape.code_stride / 32;
    const GpuMemory codes = Memory(groups * 32);
    const GpuMemory scales = Memory(groups * 8);
    p.params.codes = codes.address;
    p.params.scales = scales.address;
    Run(GpuQuantizeRows(
        {shape.x, codes.address, scales.address, shape.rows, shape.k, shape.x_stride, shape.code_stride}));
    std::vector<float> seen(p.x.size());
    const auto* code = reinterpret_cast<const int8_t*>(codes.host);
    const auto* scale = reinterpret_cast<const float*>(scales.host);
    for (uint32_t r = 0; r < shape.rows; ++r) {
      for (uint32_t j = 0; j < shape.k; ++j) {
        const size_t at = size_t{r} * shape.code_stride + j;
        seen[size_t{r} * shape.k + j] = scale[at / 32 * 2] * code[at];
      }
    }
    return seen;
  }

  // The widths that a type's rows can have, from the smallest on: in blocks of 32 odd numbers of blocks, which leave
  // rows 2-byte aligned; for plain numbers any width.
  static std::vector<uint32_t> Widths(DType dtype) {
    const uint32_t block = Traits(dtype).block_elements;
    if (block == 1) return {1, 3, 31, 32, 33, 64, 100, 577};
    if (block == 32) return {32, 64, 96, 544, 576};
    return {256, 512, 768};
  }
};

class GpuMatMulTypes : public GpuMatMulTest, public testing::WithParamInterface<DType> {};

TEST_P(GpuMatMulTypes, AwkwardShapes) {
  for (const uint32_t k : Widths(GetParam())) {
    for (const uint32_t n : {1u, 7u, 130u}) {
      RunCase({GetParam(), 1, n, k});
      RunCase({GetParam(), 3, n, k});
      RunCase({GetParam(), 17, n, k});
    }
  }
}

TEST_P(GpuMatMulTypes, EveryRowCount) {
  const uint32_t k = Widths(GetParam()).back();
  for (uint32_t rows = 1; rows <= 18; ++rows) RunCase({GetParam(), rows, 5, k});
  for (const uint32_t rows : {63u, 64u, 65u, 130u}) RunCase({GetParam(), rows, 67, k});
}

// Greedy text must not depend on what else is in the batch.
TEST_P(GpuMatMulTypes, RowsAreIndependentOfTheirNumberAndPlace) {
  const Case c{GetParam(), kMaxGemvRows, 37, Widths(GetParam()).back()};
  Problem p = Make(c);
  Run(GpuMatMul(c.dtype, p.params, shape()));
  const std::vector<float> all(p.y.values().begin(), p.y.values().end());
  for (uint32_t rows = 1; rows < c.rows; ++rows) {
    for (const uint32_t first : {0u, c.rows - rows}) {
      p.y.Poison();
      MatMulGpuParams part = p.params;
      part.rows = rows;
      part.x += uint64_t{first} * part.x_stride * sizeof(float);
      Run(GpuMatMul(c.dtype, part, shape()));
      for (uint32_t i = 0; i < rows * part.y_stride; ++i) {
        const float want = all[first * part.y_stride + i];
        const float got = p.y.values()[i];
        ASSERT_TRUE(std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(want) ||
                    (std::isnan(got) && std::isnan(want)))
            << NameOf(c) << ": " << rows << " rows from " << first << ", index " << i << ": expected the bits of "
            << want << ", got " << got;
      }
    }
  }
}

TEST_P(GpuMatMulTypes, FewerLanes) {
  for (const uint32_t lanes : {1u, 2u, 4u}) {
    const Case c{GetParam(), 2, 19, Widths(GetParam()).back()};
    Problem p = Make(c);
    Run(GpuMatMul(c.dtype, p.params, GpuShape{lanes}));
    CheckOutput(NameOf(c), p, Products(p, p.x), kTailNone);
  }
}

TEST_P(GpuMatMulTypes, TailsAgreeWithTheFormulaAndWithTheUnfusedProduct) {
  for (const uint32_t rows : {1u, 4u, 6u, 20u}) {
    const Case c{GetParam(), rows, 21, Widths(GetParam()).back()};
    Problem p = Make(c);
    Run(GpuMatMul(c.dtype, p.params, shape()));
    std::vector<Expected> unfused(size_t{c.rows} * c.n);
    for (uint32_t i = 0; i < unfused.size(); ++i) {
      unfused[i] = {p.y.values()[i / c.n * p.params.y_stride + i % c.n], 0.0};
    }
    const std::vector<Expected> products = Products(p, p.x);
    for (uint32_t kind = 0; kind < kTailCount; ++kind) {
      p.y.Poison();
      p.params.tail.kind = kind;
      Run(GpuMatMul(c.dtype, p.params, shape()));
      CheckOutput(NameOf(c), p, products, kind);
      CheckOutput(NameOf(c) + " against unfused", p, unfused, kind);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vulkan, GpuMatMulTypes, testing::ValuesIn(kWeightTypes),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

class GpuInt8MatMulTypes : public GpuMatMulTest, public testing::WithParamInterface<DType> {
 protected:
  void RunInt8(const Case& c, uint32_t kind) {
    Problem p = Make(c);
    const std::vector<float> seen = Quantize(p);
    p.params.tail.kind = kind;
    Run(GpuInt8MatMul(c.dtype, p.params, shape()));
    CheckOutput("int8 " + NameOf(c), p, Products(p, seen), kind);
  }
};

TEST_P(GpuInt8MatMulTypes, AwkwardShapes) {
  for (const uint32_t k : Widths(GetParam())) {
    for (const uint32_t rows : {1u, 3u, 16u}) RunInt8({GetParam(), rows, 7, k}, kTailNone);
  }
  for (uint32_t rows = 1; rows <= kMaxGemvRows + 2; ++rows) RunInt8({GetParam(), rows, 130, 256}, kTailNone);
  for (const uint32_t k : Widths(GetParam())) {
    for (const uint32_t n : {1u, 7u, 130u}) RunInt8({GetParam(), 17, n, k}, kTailNone);
  }
  for (const uint32_t rows : {63u, 64u, 65u, 130u}) RunInt8({GetParam(), rows, 67, 512}, kTailNone);
}

TEST_P(GpuInt8MatMulTypes, Tails) {
  for (uint32_t kind = 0; kind < kTailCount; ++kind) {
    for (const uint32_t rows : {1u, 3u, 8u, 20u}) RunInt8({GetParam(), rows, 21, 512}, kind);
  }
}

TEST_P(GpuInt8MatMulTypes, RowsAreIndependentOfTheirNumber) {
  const Case c{GetParam(), kMaxGemvRows, 37, 768};
  Problem p = Make(c);
  Quantize(p);
  Run(GpuInt8MatMul(c.dtype, p.params, shape()));
  const std::vector<float> all(p.y.values().begin(), p.y.values().end());
  for (uint32_t rows = 1; rows < c.rows; ++rows) {
    p.y.Poison();
    MatMulGpuParams part = p.params;
    part.rows = rows;
    Run(GpuInt8MatMul(c.dtype, part, shape()));
    EXPECT_EQ(std::memcmp(p.y.values().data(), all.data(), (rows - 1) * part.y_stride * 4 + c.n * 4), 0) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Vulkan, GpuInt8MatMulTypes, testing::ValuesIn(std::span(kWeightTypes).subspan(3)),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST_F(GpuMatMulTest, MoreThan65535Workgroups) { RunCase({DType::kQ4_0, 1, kGridFold * kGemvThreads + 77, 32}); }

TEST_F(GpuMatMulTest, SubnormalScalesAreKept) {
  Problem p = Make({DType::kQ8_0, 1, 1, 64});
  std::vector<std::byte> blocks(68, std::byte{1});
  const uint16_t tiny = 3;  // 3 * 2^-24
  std::memcpy(blocks.data(), &tiny, 2);
  std::memcpy(blocks.data() + 34, &tiny, 2);
  p.params.w = Upload(blocks);
  p.w = Decoded(DType::kQ8_0, blocks, 64);
  Run(GpuMatMul(DType::kQ8_0, p.params, shape()));
  ASSERT_GT(p.w[0], 0.0f);
  CheckOutput("subnormal scale", p, Products(p, p.x), kTailNone);
}

TEST_F(GpuMatMulTest, NonFiniteActivationsSurface) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Problem p = Make({DType::kQ4_0, 2, 3, 64});
    p.x[64 + 5] = bad;
    p.params.x = Upload(Strided(p.x, 2, 64, p.params.x_stride));
    for (uint32_t kind = 0; kind < kTailCount; ++kind) {
      p.params.tail.kind = kind;
      Quantize(p);
      for (const bool int8 : {false, true}) {
        p.y.Poison();
        Run(int8 ? GpuInt8MatMul(DType::kQ4_0, p.params, shape()) : GpuMatMul(DType::kQ4_0, p.params, shape()));
        for (uint32_t i = 0; i < 3; ++i) {
          EXPECT_TRUE(std::isfinite(p.y.values()[i])) << "the other row, tail " << kind;
          const bool capped = kind == kTailScaleSoftcap && std::isinf(bad) && !int8;
          EXPECT_EQ(std::isfinite(p.y.values()[p.params.y_stride + i]), capped) << "tail " << kind << " int8 " << int8;
        }
      }
    }
  }
}

TEST(GpuMatMul, UnsupportedTypeIsNamed) {
  const MatMulGpuParams params = GpuMatMulShape(DType::kIQ4_XS, 1, 1, 256);
  const Result<GpuLaunch> launch = GpuMatMul(DType::kIQ4_XS, params, {});
  ASSERT_FALSE(launch.ok());
  EXPECT_EQ(launch.status().code(), StatusCode::kUnimplemented);
  EXPECT_NE(launch.status().message().find("got IQ4_XS"), std::string::npos) << launch.status().message();
  EXPECT_FALSE(GpuInt8MatMul(DType::kF16, params, {}).ok());
}

}  // namespace
}  // namespace candor
