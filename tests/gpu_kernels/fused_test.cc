// Fused launches against the launches that they stand for, bit for bit. Those are compared with the double references
// in the other files.
#include <fmt/format.h>

#include <random>

#include "gpu_test.h"
#include "kernels/attention/gpu.h"
#include "kernels/gated_activation/gpu.h"
#include "kernels/lib/gpu_weights.h"
#include "kernels/matmul/gpu.h"
#include "kernels/matmul/matmul_test_data.h"
#include "kernels/rms_norm/gpu.h"
#include "kernels/rope/gpu.h"

namespace candor {
namespace {

constexpr DType kCodedTypes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1,
                                 DType::kQ8_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K};
constexpr float kEps = 1e-6f;

class GpuFusedTest : public GpuTest {
 protected:
  void CheckSame(const std::string& what, const GpuFloats& got, const GpuFloats& want) const {
    EXPECT_TRUE(got.GuardsIntact()) << what << "\n" << GpuReproLine();
    EXPECT_EQ(std::memcmp(got.values().data(), want.values().data(), want.values().size_bytes()), 0)
        << what << ": expected the values of the launches one by one\n"
        << GpuReproLine();
  }
};

class GpuDecodeTest : public GpuFusedTest, public testing::WithParamInterface<DType> {
 protected:
  // One row and its matrices.
  struct Row {
    uint32_t k = 0;
    DeviceAddress x = 0;
    DeviceAddress norm = 0;
    DeviceAddress codes = 0;
    DeviceAddress scales = 0;
  };

  Row MakeRow(uint32_t k, bool normed) {
    TestRandom random(k);
    Row row{k, Upload(random.Normals(k, 3.0f)), normed ? Upload(random.Normals(k)) : 0, 0, 0};
    DeviceAddress x = row.x;
    if (normed) {
      GpuFloats y = Floats((k + 3) / 4 * 4);
      Run(GpuRmsNorm({row.x, row.norm, y.address(), k, k, k, kEps}, 1, 1));
      x = y.address();
    }
    const uint32_t stride = (k + 63) / 64 * 64;
    row.codes = Memory(stride).address;
    row.scales = Memory(stride / 4).address;
    Run(GpuQuantizeRows({x, row.codes, row.scales, 1, k, k, stride}));
    return row;
  }

  DeviceAddress Matrix(uint32_t n, uint32_t k) {
    std::mt19937 random(n * 131 + k);
    return Upload(RandomWeights(GetParam(), n, k, random));
  }

  // The product as the launches one by one make it.
  GpuFloats Product(const Row& row, DeviceAddress w, uint32_t n, const EpilogueParams& tail) {
    MatMulGpuParams params = GpuMatMulShape(GetParam(), 1, n, row.k);
    GpuFloats y = Floats(n);
    params.w = w;
    params.codes = row.codes;
    params.scales = row.scales;
    params.y = y.address();
    params.tail = tail;
    Run(GpuInt8MatMul(GetParam(), params, shape()));
    return y;
  }

  DecodeGpuParams Params(const Row& row) const {
    DecodeGpuParams params{};
    params.x = row.x;
    params.norm = row.norm;
    params.k = row.k;
    params.row_bytes = GpuMatMulShape(GetParam(), 1, 1, row.k).row_bytes;
    params.eps = kEps;
    return params;
  }

  std::vector<uint32_t> Widths() const {
    if (Traits(GetParam()).block_elements == 32) return {32, 64, 96, 2080, kMaxDecodeWidth};
    return {256, 512, 2304, kMaxDecodeWidth};
  }
};

TEST_P(GpuDecodeTest, OneMatrixWithBiasAndResidual) {
  for (const uint32_t k : Widths()) {
    for (const bool normed : {false, true}) {
      const uint32_t n = 77;
      const Row row = MakeRow(k, normed);
      TestRandom random(n);
      EpilogueParams tail{};
      tail.bias = Upload(random.Normals(n));
      tail.residual = Upload(random.Normals(n));
      tail.residual_stride = n;
      tail.kind = kTailBiasResidual;
      DecodeGpuParams params = Params(row);
      params.w0 = Matrix(n, k);
      params.n0 = n;
      params.bias0 = tail.bias;
      params.residual = tail.residual;
      const GpuFloats want = Product(row, params.w0, n, tail);
      GpuFloats y = Floats(n);
      params.y0 = y.address();
      Run(GpuDecodeProducts(GetParam(), params, shape()));
      CheckSame(fmt::format("{} of {}, norm {}", DTypeName(GetParam()), k, normed), y, want);
    }
  }
}

TEST_P(GpuDecodeTest, ThreeMatrices) {
  const uint32_t k = Widths()[2];
  const Row row = MakeRow(k, true);
  constexpr uint32_t kSizes[] = {130, 5, 64};
  DecodeGpuParams params = Params(row);
  TestRandom random(3);
  EpilogueParams biased{};
  biased.bias = Upload(random.Normals(kSizes[1]));
  biased.kind = kTailBias;
  params.bias1 = biased.bias;
  params.n0 = kSizes[0];
  params.n1 = kSizes[1];
  params.n2 = kSizes[2];
  params.w0 = Matrix(kSizes[0], k);
  params.w1 = Matrix(kSizes[1], k);
  params.w2 = Matrix(kSizes[2], k);
  GpuFloats y0 = Floats(kSizes[0]);
  GpuFloats y1 = Floats(kSizes[1]);
  GpuFloats y2 = Floats(kSizes[2]);
  params.y0 = y0.address();
  params.y1 = y1.address();
  params.y2 = y2.address();
  Run(GpuDecodeProducts(GetParam(), params, shape()));
  CheckSame("matrix 0", y0, Product(row, params.w0, kSizes[0], {}));
  CheckSame("matrix 1", y1, Product(row, params.w1, kSizes[1], biased));
  CheckSame("matrix 2", y2, Product(row, params.w2, kSizes[2], {}));
}

TEST_P(GpuDecodeTest, ManyColumnsALaneGroup) {
  const uint32_t k = Widths()[1];
  const uint32_t n = 40'000;  // more than one pass
  const Row row = MakeRow(k, false);
  DecodeGpuParams params = Params(row);
  params.w0 = Matrix(n, k);
  params.n0 = n;
  GpuFloats y = Floats(n);
  params.y0 = y.address();
  Run(GpuDecodeProducts(GetParam(), params, shape()));
  CheckSame("many columns", y, Product(row, params.w0, n, {}));
}

TEST_P(GpuDecodeTest, GatedUnit) {
  for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh, Activation::kGelu}) {
    for (const bool normed : {false, true}) {
      const uint32_t n = 99;
      const uint32_t k = Widths()[2];
      const Row row = MakeRow(k, normed);
      DecodeGpuParams params = Params(row);
      params.w0 = Matrix(n, k);
      params.w1 = Matrix(n + 1, k);
      params.n0 = n;
      params.activation = activation == Activation::kSilu       ? kTailSiluGate
                          : activation == Activation::kGeluTanh ? kTailGeluTanhGate
                                                                : kTailGeluGate;
      const GpuFloats gate = Product(row, params.w0, n, {});
      const GpuFloats up = Product(row, params.w1, n, {});
      GpuFloats want = Floats(n);
      Run(GpuGatedActivation({gate.address(), up.address(), want.address(), n, n, n, n}, 1, activation));
      GpuFloats y = Floats(n);
      params.y0 = y.address();
      Run(GpuDecodeGated(GetParam(), params, shape()));
      CheckSame(fmt::format("gated {}, norm {}", DTypeName(GetParam()), normed), y, want);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vulkan, GpuDecodeTest, testing::ValuesIn(kCodedTypes),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

// ---- heads made ready for attention

struct HeadsCase {
  DType kv_type = DType::kF16;
  RopePairing pairing = RopePairing::kHalf;
  bool normed = true;
  bool rotated = true;
  uint32_t key_dim = 128;
  uint32_t value_dim = 128;
  uint32_t n_rot = 128;
};

constexpr HeadsCase kHeadsCases[] = {
    {},
    {.pairing = RopePairing::kAdjacent, .normed = false},
    {.kv_type = DType::kF32, .key_dim = 80, .value_dim = 64, .n_rot = 32},
    {.kv_type = DType::kF32, .pairing = RopePairing::kAdjacent, .key_dim = 6, .value_dim = 10, .n_rot = 4},
    {.rotated = false, .key_dim = 300, .value_dim = 2, .n_rot = 0},
    {.key_dim = 1024, .value_dim = 33, .n_rot = 1024},
};

class GpuPreparedHeadsTest : public GpuFusedTest, public testing::WithParamInterface<HeadsCase> {};

TEST_P(GpuPreparedHeadsTest, AsNormRotationAndCacheWriteOneByOne) {
  const HeadsCase& c = GetParam();
  constexpr uint32_t kHeads = 5, kKvHeads = 3, kRows = 4, kPositions = 70;
  const std::vector<int32_t> positions = {63, 64, -1, 2};
  const std::vector<int32_t> sequences = {0, 0, 0, 1};
  const size_t element = c.kv_type == DType::kF16 ? 2 : 4;
  KvLayerLayout layout;
  layout.dtype = c.kv_type;
  layout.kv_heads = kKvHeads;
  layout.key_dim = static_cast<int32_t>(c.key_dim);
  layout.value_dim = static_cast<int32_t>(c.value_dim);
  layout.key_head_stride = (c.key_dim * kPageTokens * element + 63) / 64 * 64;
  layout.value_head_stride = (c.value_dim * kPageTokens * element + 63) / 64 * 64;
  layout.key_offset = 128;
  layout.value_offset = layout.key_offset + kKvHeads * layout.key_head_stride;
  const size_t page_bytes = layout.value_offset + kKvHeads * layout.value_head_stride + 64;
  TestRandom random(c.key_dim);
  const std::vector<float> q = random.Normals(kRows * kHeads * c.key_dim);
  const std::vector<float> k = random.Normals(kRows * kKvHeads * c.key_dim);
  const std::vector<float> v = random.Normals(kRows * kKvHeads * c.value_dim);
  const DeviceAddress q_norm = c.normed ? Upload(random.Normals(c.key_dim)) : 0;
  const DeviceAddress k_norm = c.normed ? Upload(random.Normals(c.key_dim)) : 0;
  const DeviceAddress table = c.rotated ? Upload(random.Normals(kPositions * c.n_rot)) : 0;
  const DeviceAddress position = Upload(positions);
  const DeviceAddress sequence = Upload(sequences);

  // Two sequences of two pages each, once for either way.
  std::vector<GpuMemory> pages[2];
  DeviceAddress tables[2];
  for (int way = 0; way < 2; ++way) {
    std::vector<uint64_t> addresses;
    for (int i = 0; i < 4; ++i) {
      pages[way].push_back(Memory(page_bytes));
      std::memset(pages[way].back().host, 0xff, page_bytes);
      addresses.push_back(pages[way].back().address);
    }
    tables[way] = Upload(addresses);
  }

  GpuFloats want = Floats(q.size());
  GpuFloats keys = Floats(k.size());
  std::copy(q.begin(), q.end(), want.values().begin());
  std::copy(k.begin(), k.end(), keys.values().begin());
  const uint32_t q_width = kHeads * c.key_dim, k_width = kKvHeads * c.key_dim, v_width = kKvHeads * c.value_dim;
  if (c.normed) {
    Run(GpuRmsNorm({want.address(), q_norm, want.address(), q_width, q_width, c.key_dim, kEps}, kRows, kHeads));
    Run(GpuRmsNorm({keys.address(), k_norm, keys.address(), k_width, k_width, c.key_dim, 2 * kEps}, kRows, kKvHeads));
  }
  if (c.rotated) {
    Run(GpuRope({want.address(), table, position, q_width, kHeads, c.key_dim, c.n_rot}, kRows, c.pairing));
    Run(GpuRope({keys.address(), table, position, k_width, kKvHeads, c.key_dim, c.n_rot}, kRows, c.pairing));
  }
  KvWriteGpuParams write{};
  SetGpuKvLayout(layout, write);
  write.k = keys.address();
  write.v = Upload(v);
  write.position = position;
  write.sequence = sequence;
  write.page_table = tables[0];
  write.k_stride = k_width;
  write.v_stride = v_width;
  write.table_stride = 2;
  Run(GpuKvWrite(c.kv_type, write, kRows));

  GpuFloats got = Floats(q.size());
  PrepareHeadsGpuParams params{};
  SetGpuKvLayout(layout, params);
  params.q = Upload(q);
  params.prepared_q = got.address();
  params.k = Upload(k);
  params.v = Upload(v);
  params.q_norm = q_norm;
  params.k_norm = k_norm;
  params.table = table;
  params.position = position;
  params.sequence = sequence;
  params.page_table = tables[1];
  params.table_stride = 2;
  params.heads = kHeads;
  params.n_rot = c.n_rot;
  params.q_eps = kEps;
  params.k_eps = 2 * kEps;
  Run(GpuPrepareHeads(c.kv_type, params, kRows, c.pairing));

  // The row that is not there is left alone.
  for (uint32_t i = 2 * q_width; i < 3 * q_width; ++i) {
    EXPECT_TRUE(std::isnan(got.values()[i]));
    want.values()[i] = got.values()[i];
  }
  CheckSame("queries", got, want);
  for (size_t i = 0; i < pages[0].size(); ++i)
    EXPECT_EQ(std::memcmp(pages[0][i].host, pages[1][i].host, page_bytes), 0) << "page " << i << "\n" << GpuReproLine();
}

INSTANTIATE_TEST_SUITE_P(Vulkan, GpuPreparedHeadsTest, testing::ValuesIn(kHeadsCases));

}  // namespace
}  // namespace candor
