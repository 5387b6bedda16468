#include "kernels/attention/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/lib/kernel_test.h"
#include "tensor/dequantize.h"

namespace candor {
namespace {

struct Shape {
  int32_t heads = 1;
  int32_t kv_heads = 1;
  int32_t key_dim = 64;
  int32_t value_dim = 64;
  DType dtype = DType::kF16;
  int32_t window = 0;
  float softcap = 0.0f;
  float q_scale = 1.0f;
};

// A sequence in a step: `rows` rows from position `first` on; everything before it is in the cache already.
struct SequenceRows {
  int32_t first = 0;
  int32_t rows = 1;
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t RoundUp64(int64_t n) { return (n + 63) / 64 * 64; }

// Sequences with their keys, values and queries for every position, and the pages that hold them. Unwritten tokens of a
// page are NaN.
class Cache {
 public:
  Cache(const Shape& shape, CpuIsa isa, std::vector<int32_t> lengths)
      : shape_(shape), isa_(isa), lengths_(std::move(lengths)) {
    const size_t element = shape.dtype == DType::kF16 ? 2 : 4;
    layout_.dtype = shape.dtype;
    layout_.kv_heads = shape.kv_heads;
    layout_.key_dim = shape.key_dim;
    layout_.value_dim = shape.value_dim;
    layout_.key_offset = 64;
    layout_.key_head_stride = RoundUp64(shape.key_dim * kPageTokens * element);
    layout_.value_head_stride = RoundUp64(shape.value_dim * kPageTokens * element);
    layout_.value_offset = layout_.key_offset + shape.kv_heads * layout_.key_head_stride;
    const size_t page_bytes = layout_.value_offset + shape.kv_heads * layout_.value_head_stride;
    for (size_t s = 0; s < lengths_.size(); ++s) {
      TestRandom random(s);
      keys_.push_back(random.Normals(int64_t{lengths_[s]} * KeyWidth()));
      values_.push_back(random.Normals(int64_t{lengths_[s]} * ValueWidth()));
      queries_.push_back(random.Normals(int64_t{lengths_[s]} * QueryWidth(), shape.q_scale));
      if (shape.dtype == DType::kF16) {
        for (float& k : keys_[s]) k = HalfToFloat(FloatToHalf(k));
        for (float& v : values_[s]) v = HalfToFloat(FloatToHalf(v));
      }
      storage_.emplace_back();
      tables_.emplace_back();
      for (int64_t page = 0; page * kPageTokens < lengths_[s]; ++page) {
        storage_[s].emplace_back(page_bytes + 64, std::byte{0xff});  // 0xffff and 0xffffffff are NaN
        std::byte* data = storage_[s].back().data();
        tables_[s].push_back(data + (64 - reinterpret_cast<uintptr_t>(data) % 64) % 64);
      }
    }
    for (auto& table : tables_) table_of_tables_.push_back(table.data());
  }

  int64_t KeyWidth() const { return int64_t{shape_.kv_heads} * shape_.key_dim; }
  int64_t ValueWidth() const { return int64_t{shape_.kv_heads} * shape_.value_dim; }
  int64_t QueryWidth() const { return int64_t{shape_.heads} * shape_.key_dim; }
  int64_t OutputWidth() const { return int64_t{shape_.heads} * shape_.value_dim; }
  float* key(int32_t s, int64_t position) { return keys_[s].data() + position * KeyWidth(); }
  float* value(int32_t s, int64_t position) { return values_[s].data() + position * ValueWidth(); }
  float* query(int32_t s, int64_t position) { return queries_[s].data() + position * QueryWidth(); }
  const KvLayerLayout& layout() const { return layout_; }

  // Writes positions [begin, end) of a sequence, rows split as given.
  void Write(int32_t s, int32_t begin, int32_t end, int64_t rows_per_call) {
    const std::vector<int32_t> sequence(end - begin, s);
    std::vector<int32_t> position;
    for (int32_t p = begin; p < end; ++p) position.push_back(p);
    const KvRows kv_rows{position.data(), sequence.data(), table_of_tables_.data()};
    const KvWriteParams params{key(s, begin), value(s, begin), KeyWidth(), ValueWidth(), layout_, &kv_rows};
    const int64_t rows = end - begin;
    for (int64_t row = 0; row < rows; row += rows_per_call) {
      CpuAttention(isa_).write_kv(params, row, std::min(rows, row + rows_per_call));
    }
  }

  void WriteAll() {
    for (size_t s = 0; s < lengths_.size(); ++s) Write(s, 0, lengths_[s], lengths_[s]);
  }

  // Attention of the rows of one step, cut for `threads`, units in the given portions (0: all at once); [rows,
  // OutputWidth()], guards checked.
  std::vector<float> Run(const std::vector<SequenceRows>& step, int64_t units_per_call, int32_t threads = 1) {
    std::vector<int32_t> position;
    std::vector<int32_t> sequence;
    std::vector<float> q;
    for (size_t s = 0; s < step.size(); ++s) {
      for (int32_t p = step[s].first; p < step[s].first + step[s].rows; ++p) {
        position.push_back(p);
        sequence.push_back(s);
        q.insert(q.end(), query(s, p), query(s, p) + QueryWidth());
      }
    }
    const KvRows kv_rows{position.data(), sequence.data(), table_of_tables_.data()};
    const int64_t rows = position.size();
    GuardedFloats y(rows * OutputWidth());
    const AttentionParams params{.q = q.data(),
                                 .y = y.data(),
                                 .q_stride = QueryWidth(),
                                 .y_stride = OutputWidth(),
                                 .heads = shape_.heads,
                                 .scale = Scale(),
                                 .softcap = shape_.softcap,
                                 .window = shape_.window,
                                 .threads = threads,
                                 .layout = layout_,
                                 .kv_rows = &kv_rows};
    const AttentionKernels& kernels = CpuAttention(isa_);
    const int64_t units = kernels.units(params, rows);
    const int64_t portion = units_per_call > 0 ? units_per_call : units;
    for (int64_t unit = 0; unit < units; unit += portion)
      kernels.run(params, rows, unit, std::min(units, unit + portion));
    EXPECT_TRUE(y.GuardsIntact()) << "attention wrote outside its output";
    return {y.span().begin(), y.span().end()};
  }

  float Scale() const { return 1.0f / std::sqrt(static_cast<float>(shape_.key_dim)); }

  // One row from the formula with its tolerance. A score's error is that of a chain of key_dim fused products and of
  // the scale (and cap); it is the relative error of the weight, counted once more for the denominator, beside exp's
  // and the chains' over tokens. The factor of a block's maximum is one more rounded exp per block at most.
  std::vector<Expected> Reference(int32_t s, int32_t position) {
    const int32_t low = shape_.window > 0 ? std::max(0, position - shape_.window + 1) : 0;
    const int64_t count = position - low + 1;
    std::vector<Expected> want;
    for (int32_t head = 0; head < shape_.heads; ++head) {
      const int32_t kv_head = head / (shape_.heads / shape_.kv_heads);
      const float* q = query(s, position) + int64_t{head} * shape_.key_dim;
      std::vector<float> keys, values;
      double largest = 0.0;  // max over tokens of sum |q k|, scaled
      for (int32_t p = low; p <= position; ++p) {
        const float* k = key(s, p) + kv_head * shape_.key_dim;
        const float* v = value(s, p) + kv_head * shape_.value_dim;
        keys.insert(keys.end(), k, k + shape_.key_dim);
        values.insert(values.end(), v, v + shape_.value_dim);
        double norm = 0.0;
        for (int32_t d = 0; d < shape_.key_dim; ++d) norm += std::abs(static_cast<double>(q[d]) * k[d]);
        largest = std::max(largest, norm * Scale());
      }
      std::vector<double> y(shape_.value_dim), magnitude(shape_.value_dim);
      ReferenceAttention(q, keys.data(), values.data(), count, shape_.key_dim, shape_.value_dim, Scale(),
                         shape_.softcap, y.data());
      for (float& v : values) v = std::abs(v);
      ReferenceAttention(q, keys.data(), values.data(), count, shape_.key_dim, shape_.value_dim, Scale(),
                         shape_.softcap, magnitude.data());
      const double score = (SumRoundoff(shape_.key_dim) + 3.0 * kRoundoff) * largest + 6.0 * kRoundoff * shape_.softcap;
      const double relative =
          2.0 * (score + 3.0 * kRoundoff + SumRoundoff(count) + 3.0 * SumRoundoff(count / kPageTokens + 1));
      for (int32_t n = 0; n < shape_.value_dim; ++n) want.push_back({y[n], relative * magnitude[n]});
    }
    return want;
  }

  std::vector<std::byte*>& table(int32_t s) { return tables_[s]; }

 private:
  Shape shape_;
  CpuIsa isa_;
  std::vector<int32_t> lengths_;
  KvLayerLayout layout_;
  std::vector<std::vector<float>> keys_, values_, queries_;
  std::vector<std::vector<std::vector<std::byte>>> storage_;
  std::vector<std::vector<std::byte*>> tables_;
  std::vector<std::byte* const*> table_of_tables_;
};

class AttentionTest : public KernelTest {
 protected:
  // All rows of a sequence of `length`, against the formula.
  void RunCase(const Shape& shape, int32_t length) const {
    Cache cache(shape, isa(), {length});
    cache.WriteAll();
    const std::vector<float> y = cache.Run({{0, length}}, 0);
    GuardedFloats got(y.size());
    std::copy(y.begin(), y.end(), got.data());
    std::vector<Expected> want;
    for (int32_t position = 0; position < length; ++position) {
      const std::vector<Expected> row = cache.Reference(0, position);
      want.insert(want.end(), row.begin(), row.end());
    }
    Check(fmt::format("attention: {} heads, {} kv, dims {}/{}, {}, window {}, softcap {}, {} rows", shape.heads,
                      shape.kv_heads, shape.key_dim, shape.value_dim, DTypeName(shape.dtype), shape.window,
                      shape.softcap, length),
          got, want);
  }

  // Every row of a step must have the bits that it has when it is computed alone, head by head.
  void CheckRowsAlone(Cache& cache, const std::vector<SequenceRows>& step, const std::vector<float>& together) const {
    const float* y = together.data();
    for (size_t s = 0; s < step.size(); ++s) {
      for (int32_t p = step[s].first; p < step[s].first + step[s].rows; ++p, y += cache.OutputWidth()) {
        std::vector<SequenceRows> alone(s + 1, {0, 0});
        alone[s] = {p, 1};
        const std::vector<float> row = cache.Run(alone, 1, 10000);
        CheckSameBits(fmt::format("sequence {} position {}", s, p), std::span(y, cache.OutputWidth()), row);
      }
    }
  }
};

TEST_P(AttentionTest, HeadDimensions) {
  for (const int32_t dim : {1, 2, 7, 8, 15, 16, 32, 33, 64, 80, 96, 100, 128, 200, 256}) {
    for (const DType dtype : {DType::kF16, DType::kF32}) {
      RunCase({.heads = 2, .kv_heads = 1, .key_dim = dim, .value_dim = dim, .dtype = dtype}, 70);
    }
  }
}

TEST_P(AttentionTest, KeyAndValueDimensionsDiffer) {
  RunCase({.heads = 2, .kv_heads = 2, .key_dim = 96, .value_dim = 64}, 40);
  RunCase({.heads = 3, .kv_heads = 1, .key_dim = 64, .value_dim = 130}, 40);
  RunCase({.heads = 2, .kv_heads = 1, .key_dim = 576, .value_dim = 512, .dtype = DType::kF32}, 20);
}

TEST_P(AttentionTest, HeadGroups) {
  for (const int32_t group : {1, 2, 3, 4, 5, 6, 7, 8, 14, 71})
    RunCase({.heads = 2 * group, .kv_heads = 2, .key_dim = 32, .value_dim = 32}, 67);
}

TEST_P(AttentionTest, Lengths) {
  for (const int32_t length : {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300}) {
    RunCase({.heads = 3, .kv_heads = 1, .key_dim = 32, .value_dim = 24}, length);
  }
}

TEST_P(AttentionTest, Windows) {
  for (const int32_t window : {1, 2, 3, 5, 15, 16, 17, 63, 64, 65, 100, 128, 1000}) {
    RunCase({.heads = 3, .kv_heads = 1, .key_dim = 16, .value_dim = 16, .window = window}, 200);
    RunCase({.heads = 2, .kv_heads = 2, .key_dim = 16, .value_dim = 20, .dtype = DType::kF32, .window = window}, 140);
  }
}

TEST_P(AttentionTest, SoftcapAndSharpScores) {
  RunCase({.heads = 2, .kv_heads = 1, .softcap = 30.0f}, 80);
  RunCase({.heads = 2, .kv_heads = 1, .softcap = 2.0f, .q_scale = 20.0f}, 80);
  RunCase({.heads = 2, .kv_heads = 1, .q_scale = 100.0f}, 150);
  RunCase({.heads = 2, .kv_heads = 1, .q_scale = 1e-4f}, 150);
}

TEST_P(AttentionTest, RowsHaveTheSameBitsAloneAndInAnyBatch) {
  for (const Shape& shape :
       {Shape{.heads = 6, .kv_heads = 2, .key_dim = 64, .value_dim = 64},
        Shape{.heads = 4, .kv_heads = 1, .key_dim = 80, .value_dim = 20, .window = 70},
        Shape{.heads = 7, .kv_heads = 1, .key_dim = 40, .value_dim = 72, .dtype = DType::kF32, .window = 3},
        Shape{.heads = 4, .kv_heads = 4, .key_dim = 100, .value_dim = 100, .dtype = DType::kF16, .softcap = 5.0f}}) {
    Cache cache(shape, isa(), {230, 150, 70, 64});
    cache.WriteAll();
    for (const std::vector<SequenceRows>& step : {std::vector<SequenceRows>{{0, 230}, {149, 1}, {60, 10}, {63, 1}},
                                                  {{229, 1}, {149, 1}, {69, 1}, {0, 64}},
                                                  {{5, 100}, {17, 90}}}) {
      const std::vector<float> together = cache.Run(step, 0);
      for (const int32_t threads : {1, 2, 7, 64, 10000}) {
        CheckSameBits(fmt::format("{} threads, unit by unit", threads), cache.Run(step, 1, threads), together);
        CheckSameBits(fmt::format("{} threads, units by five", threads), cache.Run(step, 5, threads), together);
      }
      CheckRowsAlone(cache, step, together);
    }
  }
}

TEST_P(AttentionTest, ChunksOfAPromptGiveTheSameBits) {
  const Shape shape{.heads = 6, .kv_heads = 2, .key_dim = 64, .value_dim = 64, .window = 90};
  Cache cache(shape, isa(), {200});
  cache.WriteAll();
  const std::vector<float> whole = cache.Run({{0, 200}}, 0);
  for (const int32_t chunk : {1, 7, 16, 33, 128}) {
    std::vector<float> pieces;
    for (int32_t first = 0; first < 200; first += chunk) {
      const std::vector<float> piece = cache.Run({{first, std::min(chunk, 200 - first)}}, 0);
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    CheckSameBits(fmt::format("chunks of {}", chunk), pieces, whole);
  }
}

// What lies behind the window is never read, what lies ahead never counts: null pages, NaN in later tokens of the same
// step.
TEST_P(AttentionTest, InvisibleTokensCannotReachARow) {
  const Shape shape{.heads = 3, .kv_heads = 1, .key_dim = 32, .value_dim = 32, .window = 40};
  Cache cache(shape, isa(), {200});
  cache.WriteAll();
  const std::vector<float> clean = cache.Run({{140, 40}}, 0);
  cache.table(0)[0] = nullptr;
  for (int64_t i = 0; i < shape.key_dim; ++i) cache.key(0, 160)[i] = kNan;
  for (int64_t i = 0; i < shape.value_dim; ++i) cache.value(0, 160)[i] = kInfinity;
  cache.Write(0, 160, 161, 1);
  const std::vector<float> y = cache.Run({{140, 40}}, 0);
  const int64_t before = 20 * cache.OutputWidth();
  CheckSameBits("rows before the NaN", std::span(y).first(before), std::span(clean).first(before));
  for (size_t i = before; i < y.size(); ++i) ASSERT_TRUE(std::isnan(y[i])) << i;
}

TEST_P(AttentionTest, NonFiniteValueSurfacesInEveryRowThatSeesIt) {
  for (const float bad : {kNan, kInfinity, -kInfinity, 1e30f /* infinity in f16 */}) {
    const Shape shape{.heads = 2, .kv_heads = 1, .key_dim = 16, .value_dim = 17};
    Cache cache(shape, isa(), {100});
    cache.value(0, 70)[16] = bad;
    cache.WriteAll();
    const std::vector<float> y = cache.Run({{0, 100}}, 0);
    for (int64_t i = 0; i < 200; ++i) {
      for (int64_t n = 0; n < 17; ++n)
        ASSERT_EQ(std::isfinite(y[i * 17 + n]), i / 2 < 70 || n != 16) << "row " << i / 2 << ", " << n;
    }
  }
}

TEST_P(AttentionTest, NonFiniteQuerySurfaces) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    Cache cache({.heads = 2, .kv_heads = 1, .key_dim = 16, .value_dim = 16}, isa(), {90});
    cache.WriteAll();
    cache.query(0, 80)[3] = bad;  // head 0
    const std::vector<float> y = cache.Run({{79, 3}}, 0);
    for (int64_t i = 0; i < 16; ++i) {
      EXPECT_TRUE(std::isfinite(y[i]) && std::isfinite(y[48 + i]) && std::isfinite(y[64 + i])) << i;
      EXPECT_TRUE(std::isnan(y[32 + i])) << i;
    }
  }
}

// A score of -inf has weight 0 as long as any other is finite, also when a whole block of them comes first.
TEST_P(AttentionTest, MinusInfinityScoresWeighNothing) {
  const Shape shape{.heads = 1, .kv_heads = 1, .key_dim = 8, .value_dim = 8, .dtype = DType::kF32};
  Cache cache(shape, isa(), {130});
  for (int32_t p = 0; p < 130; ++p) {
    cache.query(0, p)[0] = 1.0f;
    cache.key(0, p)[0] = p < 100 ? -kInfinity : 1.0f;
  }
  cache.WriteAll();
  const std::vector<float> y = cache.Run({{0, 130}}, 0);
  for (int64_t i = 0; i < 130 * 8; ++i) ASSERT_EQ(std::isnan(y[i]), i / 8 < 100) << i;
  std::vector<double> want(8);
  ReferenceAttention(cache.query(0, 129), cache.key(0, 100), cache.value(0, 100), 30, 8, 8, cache.Scale(), 0.0,
                     want.data());
  for (int64_t n = 0; n < 8; ++n) EXPECT_NEAR(y[129 * 8 + n], want[n], 1e-5);
}

TEST_P(AttentionTest, WritesOnlyItsOwnTokens) {
  for (const DType dtype : {DType::kF16, DType::kF32}) {
    const Shape shape{.heads = 2, .kv_heads = 2, .key_dim = 70, .value_dim = 9, .dtype = dtype};
    Cache cache(shape, isa(), {80});
    cache.Write(0, 20, 30, 10);
    cache.Write(0, 63, 65, 1);
    const KvLayerLayout& layout = cache.layout();
    const auto element = [&](const std::byte* base, int64_t index) {
      if (dtype == DType::kF32) return reinterpret_cast<const float*>(base)[index];
      return HalfToFloat(reinterpret_cast<const uint16_t*>(base)[index]);
    };
    for (int32_t p = 0; p < 80; ++p) {
      const bool written = (p >= 20 && p < 30) || p == 63 || p == 64;
      const std::byte* page = cache.table(0)[p / kPageTokens];
      for (int32_t head = 0; head < 2; ++head) {
        for (int32_t d = 0; d < 70; ++d) {
          const float k =
              element(page + layout.key_offset + head * layout.key_head_stride, d * kPageTokens + p % kPageTokens);
          ASSERT_TRUE(written ? k == cache.key(0, p)[head * 70 + d] : std::isnan(k)) << "key " << p << " " << d;
        }
        for (int32_t n = 0; n < 9; ++n) {
          const float v =
              element(page + layout.value_offset + head * layout.value_head_stride, p % kPageTokens * 9 + n);
          ASSERT_TRUE(written ? v == cache.value(0, p)[head * 9 + n] : std::isnan(v)) << "value " << p << " " << n;
        }
      }
    }
  }
}

CANDOR_KERNEL_TEST(AttentionTest);

}  // namespace
}  // namespace candor
