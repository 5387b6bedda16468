// Speed of the products of both reference models on one thread. GEMV: bytes per second of packed weights (larger than
// any cache for the heads). GEMM: operations (multiply and add are two) per second. Packing: bytes of the file per
// second.
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_test_data.h"

namespace candor {
namespace {

struct Case {
  DType dtype;
  int64_t n, k;
};

// SmolLM2-135M (hidden 576, feed-forward 1536) and Gemma 3 270M (hidden 640, feed-forward 2048).
constexpr Case kCases[] = {
    {DType::kQ4_1, 576, 576},   {DType::kQ4_1, 1536, 576}, {DType::kQ4_1, 576, 1536},
    {DType::kQ8_0, 49152, 576}, {DType::kQ5_0, 2048, 640}, {DType::kQ8_0, 256, 640},
    {DType::kQ8_0, 65536, 640}, {DType::kQ4_K, 640, 2048}, {DType::kQ6_K, 640, 2048},
};
// One shape for every other type.
constexpr int64_t kOutputs = 2048, kColumns = 1024;

// Weights enough to fill `bytes`: a decode step reads each matrix once and comes back to it after all others.
struct Workload {
  std::vector<PackedCopy> copies;
  std::vector<float> x, y;
  AlignedBytes xq_bytes;
  std::vector<MatMulParams> params;

  Workload(const Case& c, CpuIsa isa, int64_t rows, size_t bytes)
      : x(rows * c.k), y(rows * c.n), xq_bytes(QuantizedRowsBytes(rows, c.k)) {
    std::mt19937 random(1);
    const std::vector<std::byte> source = RandomWeights(c.dtype, c.n, c.k, random);
    for (float& v : x) v = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    const QuantizedRows xq = QuantizedRowsIn(xq_bytes.data(), rows, c.k);
    CpuMatMul(isa).quantize(x.data(), c.k, xq, 0, rows);
    do {
      copies.emplace_back(c.dtype, isa, c.n, c.k, source);
    } while (copies.size() * copies[0].bytes.size() < bytes);
    for (const PackedCopy& copy : copies) {
      MatMulParams p;
      p.output_count = 1;
      p.outputs[0].w = copy.matrix;
      p.outputs[0].y = y.data();
      p.outputs[0].y_stride = c.n;
      p.x = x.data();
      p.x_stride = c.k;
      p.xq = xq;
      params.push_back(p);
    }
  }
  size_t weight_bytes() const { return copies.size() * copies[0].bytes.size(); }
};

void Multiply(benchmark::State& state, Case c, CpuIsa isa, int64_t rows) {
  const Workload work(c, isa, rows, rows <= 4 ? size_t{96} << 20 : 1);
  const MatMulKernels& kernels = CpuMatMul(isa);
  for (auto _ : state) {
    for (const MatMulParams& p : work.params) kernels.run(p, rows, 0, kernels.units(p, rows));
    benchmark::ClobberMemory();
  }
  const double passes = static_cast<double>(state.iterations());
  const double products = static_cast<double>(work.copies.size()) * static_cast<double>(rows * c.n * c.k);
  state.counters["GB/s"] =
      benchmark::Counter(passes * static_cast<double>(work.weight_bytes()) * 1e-9, benchmark::Counter::kIsRate);
  state.counters["GOPS"] = benchmark::Counter(passes * 2e-9 * products, benchmark::Counter::kIsRate);
}

// The roof of the GEMV: a pass of plain loads over as many bytes.
void ReadBandwidth(benchmark::State& state) {
  const std::vector<uint64_t> words((size_t{96} << 20) / 8, 1);
  for (auto _ : state) {
    uint64_t sums[8] = {};
    for (size_t i = 0; i < words.size(); i += 8) {
      for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["GB/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(words.size()) * 8e-9, benchmark::Counter::kIsRate);
}

void Pack(benchmark::State& state, Case c, CpuIsa isa) {
  std::mt19937 random(1);
  const std::vector<std::byte> source = RandomWeights(c.dtype, c.n, c.k, random);
  const AlignedBytes packed(PackedBytes(c.dtype, isa, c.n, c.k).value());
  for (auto _ : state) PackRows(c.dtype, isa, c.n, c.k, source, packed.span(), 0, c.n);
  state.counters["GB/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(source.size()) * 1e-9, benchmark::Counter::kIsRate);
}

void Quantize(benchmark::State& state, CpuIsa isa) {
  const int64_t rows = 64, cols = 576;
  const std::vector<float> x(rows * cols, 0.5f);
  const AlignedBytes buffer(QuantizedRowsBytes(rows, cols));
  const QuantizedRows xq = QuantizedRowsIn(buffer.data(), rows, cols);
  for (auto _ : state) CpuMatMul(isa).quantize(x.data(), cols, xq, 0, rows);
  state.counters["Gvalues/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(rows * cols) * 1e-9, benchmark::Counter::kIsRate);
}

std::string NameOf(std::string_view what, const Case& c, CpuIsa isa) {
  return fmt::format("{}/{}/{}/{}x{}", what, CpuIsaName(isa), DTypeName(c.dtype), c.n, c.k);
}

void RegisterCase(const Case& c, CpuIsa isa) {
  for (const int64_t rows : {1, 2, 4, 8, 16, 512}) {
    const std::string what = rows == 1 ? "Gemv" : fmt::format("Gemm{}", rows);
    benchmark::RegisterBenchmark(NameOf(what, c, isa).c_str(),
                                 [=](benchmark::State& state) { Multiply(state, c, isa, rows); });
  }
  benchmark::RegisterBenchmark(NameOf("Pack", c, isa).c_str(), [=](benchmark::State& state) { Pack(state, c, isa); });
}

}  // namespace
}  // namespace candor

int main(int argc, char** argv) {
  using candor::CpuIsa;
  benchmark::Initialize(&argc, argv);
  benchmark::RegisterBenchmark("ReadBandwidth", candor::ReadBandwidth);
  for (const CpuIsa isa : candor::kAllCpuIsas) {
    if (!candor::CpuSupports(isa)) {
      fmt::print(stderr, "NOT RUN: this processor has no {}\n", candor::CpuIsaName(isa));
      continue;
    }
    benchmark::RegisterBenchmark(fmt::format("Quantize/{}", candor::CpuIsaName(isa)).c_str(),
                                 [=](benchmark::State& state) { candor::Quantize(state, isa); });
    for (const candor::Case& c : candor::kCases) candor::RegisterCase(c, isa);
    for (const candor::DType dtype : candor::kMatMulTypes)
      candor::RegisterCase({dtype, candor::kOutputs, candor::kColumns}, isa);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
