#include "kernels/matmul/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/matmul/matmul_test_data.h"

namespace candor {
namespace {

constexpr double kEps = 0x1p-24;  // half a unit in the last place of 1.0f
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// y with a stride beyond its width and guards before and after, all NaN of one bit pattern.
struct PoisonedOutput {
  static constexpr int64_t kGuard = 32;
  int64_t rows, width, stride;
  std::vector<float> memory;

  PoisonedOutput(int64_t rows, int64_t width)
      : rows(rows), width(width), stride(width + 5), memory(rows * stride + 2 * kGuard, kNaN) {}
  float* y() { return memory.data() + kGuard; }
  float at(int64_t r, int64_t i) const { return memory[kGuard + r * stride + i]; }
  bool GuardsIntact() const {
    for (int64_t i = 0; i < static_cast<int64_t>(memory.size()); ++i) {
      const int64_t at = i - kGuard;
      const bool inside = at >= 0 && at < rows * stride && at % stride < width;
      if (!inside && std::memcmp(&memory[i], &kNaN, sizeof(float)) != 0) return false;
    }
    return true;
  }
};

struct Activations {
  std::vector<float> x;
  AlignedBytes buffer;
  QuantizedRows xq;

  Activations(CpuIsa isa, int64_t rows, int64_t cols, std::vector<float> values)
      : x(std::move(values)), buffer(QuantizedRowsBytes(rows, cols)) {
    xq = QuantizedRowsIn(buffer.data(), rows, cols);
    CpuMatMul(isa).quantize(x.data(), cols, xq, 0, rows);
  }
  // The values that the codes stand for.
  std::vector<float> Rounded() const {
    std::vector<float> out(x.size());
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i) / xq.cols * xq.stride + static_cast<int64_t>(i) % xq.cols;
      out[i] = xq.scale[at / 32] * static_cast<float>(xq.q[at]);
    }
    return out;
  }
};

std::vector<float> RandomValues(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

MatMulParams ParamsOf(const PackedMatrix& w, const Activations& a, float* y, int64_t y_stride) {
  MatMulParams params;
  params.output_count = 1;
  params.outputs[0].w = w;
  params.outputs[0].y = y;
  params.outputs[0].y_stride = y_stride;
  params.x = a.x.data();
  params.x_stride = w.cols;
  params.xq = a.xq;
  return params;
}

// The same parameters from activation row `row` on.
MatMulParams FromRow(MatMulParams params, int64_t row) {
  params.x += row * params.x_stride;
  params.xq.q += row * params.xq.stride;
  params.xq.scale += row * params.xq.stride / 32;
  params.xq.sums += row * params.xq.stride / 16;
  for (int i = 0; i < params.output_count; ++i) {
    MatMulOutput& output = params.outputs[i];
    output.y += row * output.y_stride;
    if (output.residual != nullptr) output.residual += row * output.residual_stride;
  }
  return params;
}

void RunAll(CpuIsa isa, const MatMulParams& params, int64_t rows) {
  CpuMatMul(isa).run(params, rows, 0, CpuMatMul(isa).units(params, rows));
}

// Per column |w| + 2 |w with code 0|: no smaller than |scale * code| + |offset or min|, the terms whose sums are
// rounded.
std::vector<double> TermSizes(DType dtype, std::vector<std::byte> blocks, const std::vector<float>& w) {
  std::vector<double> sizes(w.begin(), w.end());
  for (double& s : sizes) s = std::abs(s);
  if (!Traits(dtype).quantized) return sizes;
  const FileBlock file = FileBlockOf(dtype);
  for (size_t at = 0; at < blocks.size(); at += Traits(dtype).block_bytes) {
    std::fill(blocks.begin() + at + file.codes_begin, blocks.begin() + at + file.codes_end, std::byte{0});
  }
  const std::vector<float> zero_code = Decoded(dtype, blocks, static_cast<int64_t>(w.size()));
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] += 2 * std::abs(zero_code[i]);
  return sizes;
}

struct Shape {
  int64_t rows, n, k;
};

// Compares with the formula twice: over the rounded activations within the rounding of k float operations, and over the
// real ones within what half a code of each activation can change.
void ExpectNear(DType dtype, const Shape& s, const std::vector<std::byte>& blocks, const std::vector<float>& w,
                const Activations& a, const PoisonedOutput& y) {
  const bool int8 = ActivationFormatFor(dtype) == ActivationFormat::kInt8Per32;
  const std::vector<float> rounded = int8 ? a.Rounded() : a.x;
  const std::vector<double> sizes = TermSizes(dtype, blocks, w);
  std::vector<double> exact(s.rows * s.n), unrounded(s.rows * s.n);
  ReferenceMatMul(rounded.data(), w.data(), nullptr, nullptr, s.rows, s.n, s.k, exact.data());
  ReferenceMatMul(a.x.data(), w.data(), nullptr, nullptr, s.rows, s.n, s.k, unrounded.data());
  // Float operations on the way to an output: an fma (or a multiply and an add) a column, or up to eight a block of 32.
  const double operations = int8 ? static_cast<double>(s.k / 32 * 8 + 8) : static_cast<double>(2 * s.k);
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t i = 0; i < s.n; ++i) {
      double size = 0, coding = 0;
      for (int64_t j = 0; j < s.k; ++j) {
        size += std::abs(rounded[r * s.k + j]) * sizes[i * s.k + j];
        if (int8) coding += 0.5001 * a.xq.scale[(r * a.xq.stride + j) / 32] * std::abs(w[i * s.k + j]);
      }
      const double tolerance = operations * kEps * size;
      ASSERT_LE(std::abs(y.at(r, i) - exact[r * s.n + i]), tolerance)
          << DTypeName(dtype) << " row " << r << " output " << i << " of " << s.rows << " x " << s.n << " x " << s.k
          << ": got " << y.at(r, i) << ", expected " << exact[r * s.n + i];
      ASSERT_LE(std::abs(y.at(r, i) - unrounded[r * s.n + i]), tolerance + coding) << "row " << r << " output " << i;
    }
  }
}

class MatMulTest : public testing::TestWithParam<std::tuple<DType, CpuIsa>> {
 protected:
  void SetUp() override {
    if (!CpuSupports(isa())) GTEST_SKIP() << "NOT RUN: this processor has no " << CpuIsaName(isa());
  }
  DType dtype() const { return std::get<0>(GetParam()); }
  CpuIsa isa() const { return std::get<1>(GetParam()); }
  bool quantized() const { return Traits(dtype()).quantized; }
  // Columns of the type: `columns` if it is a whole number of blocks, else the next one.
  int64_t Columns(int64_t columns) const {
    const int64_t block = Traits(dtype()).block_elements;
    return (columns + block - 1) / block * block;
  }
  std::mt19937 random_{42};
};

TEST_P(MatMulTest, AgreesWithTheFormula) {
  std::vector<Shape> shapes;
  const int64_t outputs[] = {1, 7, 8, 9, 17, 100, 23, 40};
  const int64_t columns[] = {32, 64, 96, 256, 288, 576, 640};
  for (int64_t rows = 1; rows <= 17; ++rows) shapes.push_back({rows, outputs[rows % 8], Columns(columns[rows % 7])});
  for (int64_t rows = 1; rows <= 5; ++rows) shapes.push_back({rows, 100, Columns(640)});
  shapes.push_back({33, 100, Columns(256)});
  shapes.push_back({3, 576, Columns(576)});
  shapes.push_back({512, 9, Columns(32)});
  if (!quantized()) shapes.insert(shapes.end(), {{1, 9, 1}, {2, 40, 3}, {7, 17, 33}, {9, 8, 257}, {5, 8, 513}});
  for (const Shape& s : shapes) {
    const std::vector<std::byte> blocks = RandomWeights(dtype(), s.n, s.k, random_);
    const PackedCopy packed(dtype(), isa(), s.n, s.k, blocks);
    const Activations a(isa(), s.rows, s.k, RandomValues(s.rows * s.k, random_));
    PoisonedOutput y(s.rows, s.n);
    RunAll(isa(), ParamsOf(packed.matrix, a, y.y(), y.stride), s.rows);
    ASSERT_TRUE(y.GuardsIntact()) << s.rows << " x " << s.n << " x " << s.k;
    ExpectNear(dtype(), s, blocks, Decoded(dtype(), blocks, s.n * s.k), a, y);
    if (HasFatalFailure()) return;
  }
}

TEST_P(MatMulTest, ExtremeCodesDoNotOverflow) {
  const Shape s = {6, 9, Columns(256)};
  for (const int pattern : {0x00, 0xff, 0x80, 0x7f, 0xf0}) {
    std::vector<std::byte> blocks = RandomWeights(dtype(), s.n, s.k, random_);
    const FileBlock file = FileBlockOf(dtype());
    for (size_t at = 0; quantized() && at < blocks.size(); at += Traits(dtype()).block_bytes) {
      std::fill(blocks.begin() + at + file.codes_begin, blocks.begin() + at + file.codes_end,
                static_cast<std::byte>(pattern));
    }
    std::vector<float> x(s.rows * s.k);
    for (int64_t i = 0; i < s.rows * s.k; ++i) {
      const int64_t row = i / s.k;
      x[i] = row == 0 ? 1.0f : row == 1 ? -1.0f : (i >> (row - 2)) % 2 == 0 ? 1.0f : -1.0f;
    }
    const PackedCopy packed(dtype(), isa(), s.n, s.k, blocks);
    const Activations a(isa(), s.rows, s.k, x);
    PoisonedOutput many(s.rows, s.n), single(s.rows, s.n);
    const MatMulParams params = ParamsOf(packed.matrix, a, many.y(), many.stride);
    RunAll(isa(), params, s.rows);
    const std::vector<float> w = Decoded(dtype(), blocks, s.n * s.k);
    ExpectNear(dtype(), s, blocks, w, a, many);
    const MatMulParams params1 = ParamsOf(packed.matrix, a, single.y(), single.stride);
    for (int64_t r = 0; r < s.rows; ++r) RunAll(isa(), FromRow(params1, r), 1);
    ExpectNear(dtype(), s, blocks, w, a, single);
    if (HasFatalFailure()) return;
  }
}

TEST_P(MatMulTest, RowsAreBitIdenticalAloneAndInAnyBatchAndUnitOrder) {
  const Shape s = {150, 100, Columns(576)};
  const PackedCopy packed(dtype(), isa(), s.n, s.k, RandomWeights(dtype(), s.n, s.k, random_));
  const Activations a(isa(), s.rows, s.k, RandomValues(s.rows * s.k, random_));
  PoisonedOutput whole(s.rows, s.n);
  RunAll(isa(), ParamsOf(packed.matrix, a, whole.y(), whole.stride), s.rows);
  for (const int64_t batch : {1, 2, 3, 4, 5, 7, 16, 65}) {
    PoisonedOutput parts(s.rows, s.n);
    const MatMulParams params = ParamsOf(packed.matrix, a, parts.y(), parts.stride);
    for (int64_t r = 0; r < s.rows; r += batch) {
      const int64_t rows = std::min(batch, s.rows - r);
      const MatMulParams part = FromRow(params, r);
      for (int64_t unit = CpuMatMul(isa()).units(part, rows); unit-- > 0;)
        CpuMatMul(isa()).run(part, rows, unit, unit + 1);
    }
    ASSERT_EQ(std::memcmp(whole.memory.data(), parts.memory.data(), whole.memory.size() * sizeof(float)), 0)
        << "in batches of " << batch;
  }
}

TEST_P(MatMulTest, AddsBiasThenResidualAlsoInPlace) {
  for (const int64_t rows : {1, 6}) {
    const Shape s = {rows, 21, Columns(64)};
    const PackedCopy packed(dtype(), isa(), s.n, s.k, RandomWeights(dtype(), s.n, s.k, random_));
    const Activations a(isa(), s.rows, s.k, RandomValues(s.rows * s.k, random_));
    const std::vector<float> bias = RandomValues(s.n, random_);
    PoisonedOutput plain(s.rows, s.n), added(s.rows, s.n);
    RunAll(isa(), ParamsOf(packed.matrix, a, plain.y(), plain.stride), s.rows);
    std::vector<float> residual = RandomValues(s.rows * s.n, random_);
    for (int64_t r = 0; r < s.rows; ++r) std::copy_n(&residual[r * s.n], s.n, added.y() + r * added.stride);
    MatMulParams params = ParamsOf(packed.matrix, a, added.y(), added.stride);
    params.outputs[0].bias = bias.data();
    params.outputs[0].residual = added.y();
    params.outputs[0].residual_stride = added.stride;
    RunAll(isa(), params, s.rows);
    ASSERT_TRUE(added.GuardsIntact());
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t i = 0; i < s.n; ++i)
        ASSERT_EQ(added.at(r, i), (plain.at(r, i) + bias[i]) + residual[r * s.n + i]) << r << ", " << i;
    }
  }
}

TEST_P(MatMulTest, NonFiniteActivationsShowInEveryOutput) {
  for (const float bad : {kNaN, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    for (const int64_t rows : {1, 8}) {
      const Shape s = {rows, 20, Columns(96)};
      const PackedCopy packed(dtype(), isa(), s.n, s.k, RandomWeights(dtype(), s.n, s.k, random_));
      std::vector<float> x = RandomValues(s.rows * s.k, random_);
      x[(rows - 1) * s.k + 37] = bad;
      const Activations a(isa(), s.rows, s.k, x);
      PoisonedOutput y(s.rows, s.n);
      RunAll(isa(), ParamsOf(packed.matrix, a, y.y(), y.stride), s.rows);
      for (int64_t i = 0; i < s.n; ++i) ASSERT_FALSE(std::isfinite(y.at(rows - 1, i))) << i;
      for (int64_t i = 0; i < s.n && rows > 1; ++i) ASSERT_TRUE(std::isfinite(y.at(0, i))) << i;
    }
  }
}

std::string NameOf(const testing::TestParamInfo<std::tuple<DType, CpuIsa>>& info) {
  return std::string(DTypeName(std::get<0>(info.param))) + "_" + std::string(CpuIsaName(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(EveryType, MatMulTest,
                         testing::Combine(testing::ValuesIn(kMatMulTypes), testing::ValuesIn(kAllCpuIsas)), NameOf);

class MatMulIsaTest : public testing::TestWithParam<CpuIsa> {
 protected:
  void SetUp() override {
    if (!CpuSupports(GetParam())) GTEST_SKIP() << "NOT RUN: this processor has no " << CpuIsaName(GetParam());
  }
  std::mt19937 random_{43};
};

TEST_P(MatMulIsaTest, SeveralOutputsShareTheActivations) {
  const CpuIsa isa = GetParam();
  const int64_t k = 256;
  const DType types[] = {DType::kQ4_K, DType::kF16, DType::kQ8_0};
  const int64_t widths[] = {72, 9, 200};
  for (const int64_t rows : {1, 4, 70}) {
    const Activations a(isa, rows, k, RandomValues(rows * k, random_));
    std::vector<PackedCopy> packed;
    std::vector<PoisonedOutput> alone, together;
    MatMulParams params;
    for (int i = 0; i < 3; ++i) {
      packed.emplace_back(types[i], isa, widths[i], k, RandomWeights(types[i], widths[i], k, random_));
      alone.emplace_back(rows, widths[i]);
      together.emplace_back(rows, widths[i]);
      RunAll(isa, ParamsOf(packed[i].matrix, a, alone[i].y(), alone[i].stride), rows);
      const MatMulParams one = ParamsOf(packed[i].matrix, a, together[i].y(), together[i].stride);
      params.x = one.x;
      params.x_stride = one.x_stride;
      params.xq = one.xq;
      params.outputs[params.output_count++] = one.outputs[0];
    }
    const int64_t units = CpuMatMul(isa).units(params, rows);
    for (int64_t unit = 0; unit < units; unit += 3) CpuMatMul(isa).run(params, rows, unit, std::min(unit + 3, units));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(std::memcmp(alone[i].memory.data(), together[i].memory.data(), alone[i].memory.size() * sizeof(float)),
                0)
          << i;
    }
  }
}

TEST_P(MatMulIsaTest, UnitsOfOneRowAreSmallAndMany) {
  const CpuIsa isa = GetParam();
  const PackedCopy packed(DType::kQ4_1, isa, 576, 576, RandomWeights(DType::kQ4_1, 576, 576, random_));
  const Activations a(isa, 1, 576, RandomValues(576, random_));
  std::vector<float> y(576);
  EXPECT_GE(CpuMatMul(isa).units(ParamsOf(packed.matrix, a, y.data(), 576), 1), 8);
}

TEST_P(MatMulIsaTest, QuantizesToTheNearestCode) {
  const int64_t rows = 3, cols = 224;  // not a multiple of the stride's 64
  std::vector<float> x = RandomValues(rows * cols, random_);
  std::fill_n(&x[32], 32, 0.0f);
  std::fill_n(&x[64], 32, 1e-39f);
  for (int i = 0; i < 32; ++i) x[96 + i] = static_cast<float>(i) - 16.5f;
  x[96] = 127.0f;  // scale 1: ties go to even
  for (float& v : std::span(x).subspan(128, 32)) v *= 1e30f;
  const Activations a(GetParam(), rows, cols, x);
  ASSERT_EQ(a.xq.stride, 256);
  for (int64_t at = 0; at < rows * a.xq.stride; ++at) {
    const int64_t row = at / a.xq.stride, column = at % a.xq.stride;
    const float scale = a.xq.scale[at / 32];
    const float value = column < cols ? x[row * cols + column] : 0.0f;
    if (column % 32 == 0) {
      float largest = 0;
      for (int64_t i = column; i < std::min(column + 32, cols); ++i)
        largest = std::max(largest, std::abs(x[row * cols + i]));
      ASSERT_EQ(scale, largest / 127.0f < std::numeric_limits<float>::min() ? 0.0f : largest / 127.0f) << at;
    }
    ASSERT_EQ(a.xq.q[at], scale == 0 ? 0 : std::nearbyint(value / scale)) << at;
    if (at % 16 != 0) continue;
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += a.xq.q[at + i];
    ASSERT_EQ(a.xq.sums[at / 16], sum) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, MatMulIsaTest, testing::ValuesIn(kAllCpuIsas),
                         [](const auto& info) { return std::string(CpuIsaName(info.param)); });

TEST(ReferenceMatMulTest, IsTheFormula) {
  const float x[] = {1, 2, 3, -1, 0.5f, 4}, w[] = {1, 0, 2, 3, -1, 1}, bias[] = {10, 20},
              residual[] = {100, 200, 300, 400};
  double y[4];
  ReferenceMatMul(x, w, bias, residual, 2, 2, 3, y);
  EXPECT_EQ(y[0], 1 + 6 + 10 + 100);
  EXPECT_EQ(y[1], 3 - 2 + 3 + 20 + 200);
  EXPECT_EQ(y[2], -1 + 8 + 10 + 300);
  EXPECT_EQ(y[3], -3 - 0.5 + 4 + 20 + 400);
}

}  // namespace
}  // namespace candor
