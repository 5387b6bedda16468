// Prefill and decode attention of SmolLM2-135M (9 heads, 3 KV heads, 64) and Gemma 3 270M (4 heads, 1 KV head, 256),
// one thread, f16 pages. Counters: FLOP/s of the two products over the visible pairs; bytes/s of keys and values that
// decode reads.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kernels/attention/attention.h"

namespace candor {
namespace {

struct Setup {
  Setup(int32_t heads, int32_t kv_heads, int32_t dim, int64_t context, int64_t rows, int32_t sequences = 1) {
    params.heads = heads;
    params.scale = 0.125f;
    KvLayerLayout& layout = params.layout;
    layout.dtype = DType::kF16;
    layout.kv_heads = kv_heads;
    layout.key_dim = layout.value_dim = dim;
    layout.key_head_stride = layout.value_head_stride = dim * kPageTokens * 2;
    layout.value_offset = kv_heads * layout.key_head_stride;
    const size_t page_bytes = 2 * layout.value_offset;
    const int64_t pages = (context + kPageTokens - 1) / kPageTokens;
    storage.resize(pages * page_bytes * sequences + 64);
    std::byte* first = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
    for (size_t i = 0; i + 2 <= storage.size(); i += 2) {
      const uint16_t half = static_cast<uint16_t>(0x3000 + (i * 2654435761u >> 7) % 0x800 + (i & 2) * 0x4000);
      std::memcpy(storage.data() + i, &half, 2);
    }
    for (int32_t s = 0; s < sequences; ++s) {
      for (int64_t p = 0; p < pages; ++p) table.push_back(first + (s * pages + p) * page_bytes);
    }
    for (int32_t s = 0; s < sequences; ++s) tables.push_back(table.data() + s * pages);
    for (int32_t s = 0; s < sequences; ++s) {
      for (int64_t r = 0; r < rows; ++r) position.push_back(context - rows + r), sequence.push_back(s);
    }
    const int64_t width = heads * dim;
    q.assign(position.size() * width, 0.0f);
    for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>((i * 2654435761u >> 8) % 1000) * 0.002f - 1.0f;
    y.resize(q.size());
    kv_rows = {position.data(), sequence.data(), tables.data()};
    params.q = q.data();
    params.y = y.data();
    params.q_stride = params.y_stride = width;
    params.kv_rows = &kv_rows;
  }

  double VisiblePairs() const {
    double pairs = 0.0;
    for (const int32_t p : position) pairs += p + 1;
    return pairs;
  }

  AttentionParams params;
  KvRows kv_rows;
  std::vector<std::byte> storage;
  std::vector<std::byte*> table;
  std::vector<std::byte* const*> tables;
  std::vector<int32_t> position, sequence;
  std::vector<float> q, y;
};

void RunSetup(benchmark::State& state, CpuIsa isa, Setup& setup) {
  if (!CpuSupports(isa)) return state.SkipWithError("NOT RUN: this machine lacks the ISA");
  const AttentionKernels& kernels = CpuAttention(isa);
  const int64_t rows = setup.position.size();
  const int64_t units = kernels.units(setup.params, rows);
  for (auto _ : state) {
    kernels.run(setup.params, rows, 0, units);
    benchmark::DoNotOptimize(setup.y.data());
    benchmark::ClobberMemory();
  }
  const KvLayerLayout& layout = setup.params.layout;
  const double dims = layout.key_dim + layout.value_dim;
  const double iterations = static_cast<double>(state.iterations());
  state.counters["flops"] = benchmark::Counter(2.0 * dims * setup.VisiblePairs() * setup.params.heads * iterations,
                                               benchmark::Counter::kIsRate);
  const double pages_bytes = setup.VisiblePairs() * layout.kv_heads * dims * 2.0;
  if (setup.position.size() == setup.tables.size()) {
    state.counters["kv_bytes"] = benchmark::Counter(pages_bytes * iterations, benchmark::Counter::kIsRate);
  }
}

void PrefillSmol(benchmark::State& state, CpuIsa isa) {
  Setup setup(9, 3, 64, state.range(0), 512);
  RunSetup(state, isa, setup);
}
void PrefillGemma(benchmark::State& state, CpuIsa isa) {
  Setup setup(4, 1, 256, state.range(0), 512);
  RunSetup(state, isa, setup);
}
void DecodeSmol(benchmark::State& state, CpuIsa isa) {
  Setup setup(9, 3, 64, state.range(0), 1);
  RunSetup(state, isa, setup);
}
void DecodeGemma(benchmark::State& state, CpuIsa isa) {
  Setup setup(4, 1, 256, state.range(0), 1);
  RunSetup(state, isa, setup);
}
// Many sequences, so that their pages come from memory.
void DecodeSmolManySequences(benchmark::State& state, CpuIsa isa) {
  Setup setup(9, 3, 64, state.range(0), 1, 128);
  RunSetup(state, isa, setup);
}

#define CANDOR_ATTENTION_BENCH(Function, ...)                                  \
  BENCHMARK_CAPTURE(Function, scalar, CpuIsa::kScalar)->Arg(512);              \
  BENCHMARK_CAPTURE(Function, avx2, CpuIsa::kAvx2)->Args({512})->Args({4096}); \
  BENCHMARK_CAPTURE(Function, avx512, CpuIsa::kAvx512)->Args({512})->Args({4096})
CANDOR_ATTENTION_BENCH(PrefillSmol);
CANDOR_ATTENTION_BENCH(PrefillGemma);
CANDOR_ATTENTION_BENCH(DecodeSmol);
CANDOR_ATTENTION_BENCH(DecodeGemma);
CANDOR_ATTENTION_BENCH(DecodeSmolManySequences);

}  // namespace
}  // namespace candor
