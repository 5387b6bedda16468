#include "probe/gpu_canaries.h"

#include <cmath>
#include <cstring>

#include "kernels/attention/gpu.h"
#include "kernels/lib/gpu_modules.h"
#include "kernels/matmul/gpu.h"
#include "kernels/rms_norm/gpu.h"

namespace candor {

// Launches that run one after the other, and what they must leave.
struct GpuCanaries::Canary {
  std::string name;
  std::vector<GpuLaunch> launches;
  const float* got = nullptr;
  std::vector<double> want;
  double tolerance = 0;  // absolute
  std::unique_ptr<GpuRecording> recording;
};

namespace {

// Small whole numbers in no order: products and sums of them are exact in float.
int Whole(uint32_t index, int bound) {
  const uint32_t mixed = (index * 2654435761u) ^ (index >> 3);
  return static_cast<int>((mixed >> 8) % static_cast<uint32_t>(2 * bound + 1)) - bound;
}

std::vector<float> Wholes(size_t count, int bound, uint32_t seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(Whole(static_cast<uint32_t>(i) + seed, bound));
  return values;
}

// y[r, n] = sum_k x[r, k] w[n, k].
std::vector<double> Product(const std::vector<float>& x, const std::vector<float>& w, size_t rows, size_t n, size_t k) {
  std::vector<double> y(rows * n, 0.0);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < k; ++j) y[r * n + i] += static_cast<double>(x[r * k + j]) * w[i * k + j];
    }
  }
  return y;
}

// A whole number below 2048 as an IEEE half.
uint16_t HalfOfWhole(int value) {
  if (value == 0) return 0;
  const auto magnitude = static_cast<uint32_t>(std::abs(value));
  int exponent = 0;
  while ((magnitude >> (exponent + 1)) != 0) ++exponent;
  const uint32_t mantissa = (magnitude << (10 - exponent)) & 0x3ffu;
  return static_cast<uint16_t>((value < 0 ? 0x8000u : 0u) | static_cast<uint32_t>(exponent + 15) << 10 | mantissa);
}

template <class T>
std::span<const std::byte> BytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

bool HasGpuKernels() { return !GpuModules().empty(); }

GpuCanaries::GpuCanaries(std::unique_ptr<GpuDevice> device) : device_(std::move(device)), program_(*device_) {}
GpuCanaries::~GpuCanaries() = default;

Result<std::unique_ptr<GpuCanaries>> GpuCanaries::Make(const DeviceInfo& info) {
  CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuDevice> device, OpenGpuDevice(info));
  std::unique_ptr<GpuCanaries> canaries(new GpuCanaries(std::move(device)));
  CANDOR_RETURN_IF_ERROR(canaries->MakeProducts());
  if (canaries->program_.has_int8_products()) CANDOR_RETURN_IF_ERROR(canaries->MakeInt8Products());
  CANDOR_RETURN_IF_ERROR(canaries->MakeNorm());
  CANDOR_RETURN_IF_ERROR(canaries->MakeAttention());
  return canaries;
}

Result<DeviceAddress> GpuCanaries::Put(std::span<const std::byte> bytes) {
  CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuBuffer> buffer,
                          device_->Allocate(bytes.size() + kGpuReadSlack, GpuMemoryKind::kHost, "a self-test"));
  std::memcpy(buffer->host(), bytes.data(), bytes.size());
  buffers_.push_back(std::move(buffer));
  return buffers_.back()->address();
}

// Full of NaN: what a kernel does not write is seen.
Result<float*> GpuCanaries::Output(size_t count, DeviceAddress& address) {
  const std::vector<float> poison(count, std::nanf(""));
  CANDOR_ASSIGN_OR_RETURN(address, Put(BytesOf(poison)));
  return reinterpret_cast<float*>(buffers_.back()->host());
}

Status GpuCanaries::Add(Canary canary) {
  std::vector<GpuStage> stages;
  for (const GpuLaunch& launch : canary.launches) {
    CANDOR_ASSIGN_OR_RETURN(const GpuDispatch dispatch, program_.Dispatch(launch));
    stages.push_back({dispatch});
  }
  CANDOR_ASSIGN_OR_RETURN(canary.recording, device_->Record(stages));
  canaries_.push_back(std::move(canary));
  return OkStatus();
}

// f32 weights: the kernel of few rows and the one of many.
Status GpuCanaries::MakeProducts() {
  constexpr uint32_t kN = 70, kK = 100;
  const std::vector<float> w = Wholes(kN * kK, 9, 1);
  for (const uint32_t rows : {1u, 70u}) {
    const std::vector<float> x = Wholes(rows * kK, 20, rows);
    Canary canary;
    canary.name = fmt::format("product of {} rows", rows);
    canary.want = Product(x, w, rows, kN, kK);
    MatMulGpuParams params = GpuMatMulShape(DType::kF32, rows, kN, kK);
    CANDOR_ASSIGN_OR_RETURN(params.w, Put(BytesOf(w)));
    CANDOR_ASSIGN_OR_RETURN(params.x, Put(BytesOf(x)));
    CANDOR_ASSIGN_OR_RETURN(canary.got, Output(canary.want.size(), params.y));
    CANDOR_ASSIGN_OR_RETURN(GpuLaunch launch, GpuMatMul(DType::kF32, params, program_.shape()));
    canary.launches = {std::move(launch)};
    CANDOR_RETURN_IF_ERROR(Add(std::move(canary)));
  }
  return OkStatus();
}

// Q8_0 weights and int8 activations, both without rounding here: every group of 32 values has a 127 in it.
Status GpuCanaries::MakeInt8Products() {
  constexpr uint32_t kN = 33, kK = 192;
  std::vector<float> x = Wholes(kK, 126, 5);
  for (size_t i = 0; i < kK; i += 32) x[i] = 127.0f;
  const std::vector<float> codes = Wholes(kN * kK, 100, 9);
  std::vector<float> w(codes.size());
  std::vector<uint8_t> blocks;
  for (size_t i = 0; i < codes.size(); ++i) {
    const int scale = 1 + static_cast<int>(i / 32 % 7);
    if (i % 32 == 0) {
      const uint16_t half = HalfOfWhole(scale);
      blocks.push_back(static_cast<uint8_t>(half & 0xff));
      blocks.push_back(static_cast<uint8_t>(half >> 8));
    }
    blocks.push_back(static_cast<uint8_t>(static_cast<int8_t>(codes[i])));
    w[i] = codes[i] * static_cast<float>(scale);
  }
  Canary canary;
  canary.name = "int8 product";
  canary.want = Product(x, w, 1, kN, kK);
  canary.tolerance = 64.0;  // of sums around 1e6
  DecodeGpuParams params{};
  CANDOR_ASSIGN_OR_RETURN(params.x, Put(BytesOf(x)));
  CANDOR_ASSIGN_OR_RETURN(params.w0, Put(BytesOf(blocks)));
  CANDOR_ASSIGN_OR_RETURN(canary.got, Output(kN, params.y0));
  params.n0 = kN;
  params.k = kK;
  params.row_bytes = kK / 32 * 34;
  canary.launches = {GpuDecodeProducts(DType::kQ8_0, params, program_.shape())};
  return Add(std::move(canary));
}

Status GpuCanaries::MakeNorm() {
  constexpr uint32_t kWidth = 300;
  const std::vector<float> x = Wholes(kWidth, 50, 3);
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * value;
  Canary canary;
  canary.name = "rms_norm";
  canary.tolerance = 1e-4;
  for (const float value : x) canary.want.push_back(value / std::sqrt(squares / kWidth + 1e-5));
  RmsNormGpuParams params{};
  CANDOR_ASSIGN_OR_RETURN(params.x, Put(BytesOf(x)));
  CANDOR_ASSIGN_OR_RETURN(canary.got, Output(kWidth, params.y));
  params.x_stride = params.y_stride = params.width = kWidth;
  params.eps = 1e-5f;
  canary.launches = {GpuRmsNorm(params, 1, 1)};
  return Add(std::move(canary));
}

// 70 tokens written to two pages, then the last one's attention of two heads that share their keys.
Status GpuCanaries::MakeAttention() {
  constexpr uint32_t kTokens = 70, kHeads = 2, kDim = 32;
  const std::vector<float> k = Wholes(kTokens * kDim, 3, 11);
  const std::vector<float> v = Wholes(kTokens * kDim, 40, 13);
  const std::vector<float> q = Wholes(kHeads * kDim, 2, 17);
  Canary canary;
  canary.name = "attention";
  canary.tolerance = 2e-3;
  const double scale = 1.0 / std::sqrt(static_cast<double>(kDim));
  for (uint32_t head = 0; head < kHeads; ++head) {
    std::vector<double> sums(kDim, 0.0);
    double total = 0;
    for (uint32_t token = 0; token < kTokens; ++token) {
      double score = 0;
      for (uint32_t d = 0; d < kDim; ++d) score += static_cast<double>(q[head * kDim + d]) * k[token * kDim + d];
      const double weight = std::exp(score * scale);
      total += weight;
      for (uint32_t d = 0; d < kDim; ++d) sums[d] += weight * v[token * kDim + d];
    }
    for (const double sum : sums) canary.want.push_back(sum / total);
  }
  KvLayerLayout layout;
  layout.kv_heads = 1;
  layout.key_dim = layout.value_dim = kDim;
  layout.key_head_stride = layout.value_head_stride = kDim * kPageTokens * 2;
  layout.value_offset = layout.key_head_stride;
  std::vector<uint64_t> table(2);
  const std::vector<uint8_t> page(2 * layout.key_head_stride, 0xff);  // NaN wherever nothing is written
  for (uint64_t& address : table) {
    CANDOR_ASSIGN_OR_RETURN(address, Put(BytesOf(page)));
  }
  std::vector<int32_t> positions(kTokens);
  for (uint32_t i = 0; i < kTokens; ++i) positions[i] = static_cast<int32_t>(i);
  KvWriteGpuParams write{};
  SetGpuKvLayout(layout, write);
  CANDOR_ASSIGN_OR_RETURN(write.k, Put(BytesOf(k)));
  CANDOR_ASSIGN_OR_RETURN(write.v, Put(BytesOf(v)));
  CANDOR_ASSIGN_OR_RETURN(write.position, Put(BytesOf(positions)));
  CANDOR_ASSIGN_OR_RETURN(write.sequence, Put(BytesOf(std::vector<int32_t>(kTokens, 0))));
  CANDOR_ASSIGN_OR_RETURN(write.page_table, Put(BytesOf(table)));
  write.k_stride = write.v_stride = kDim;
  write.table_stride = 2;
  AttentionGpuParams params{};
  SetGpuKvLayout(layout, params);
  CANDOR_ASSIGN_OR_RETURN(params.q, Put(BytesOf(q)));
  CANDOR_ASSIGN_OR_RETURN(canary.got, Output(kHeads * kDim, params.y));
  CANDOR_RETURN_IF_ERROR(Output(kHeads * kDecodeSplits * (kDim + 2), params.parts).status());
  params.position = write.position + (kTokens - 1) * sizeof(int32_t);
  params.sequence = write.sequence;
  params.page_table = write.page_table;
  params.rows = 1;
  params.q_stride = params.y_stride = kHeads * kDim;
  params.table_stride = 2;
  params.heads = kHeads;
  params.scale = static_cast<float>(scale);
  CANDOR_ASSIGN_OR_RETURN(GpuLaunch attention, GpuAttention(DType::kF16, params));
  canary.launches = {GpuKvWrite(DType::kF16, write, kTokens), std::move(attention), GpuAttentionCombine(params)};
  return Add(std::move(canary));
}

Status GpuCanaries::Run() {
  for (Canary& canary : canaries_) {
    CANDOR_RETURN_IF_ERROR(canary.recording->Run().status());
    for (size_t i = 0; i < canary.want.size(); ++i) {
      const double error = std::abs(canary.got[i] - canary.want[i]);
      if (error <= canary.tolerance) continue;  // false for NaN
      return DataLossError(
          "self-test '{}': expected {:.9g} at place {}, got {:.9g}; the driver or the device computes wrongly, install "
          "another driver",
          canary.name, canary.want[i], i, canary.got[i]);
    }
  }
  return OkStatus();
}

}  // namespace candor
