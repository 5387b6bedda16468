// attention and kv_write over pages in device memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu_test.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/gpu.h"
#include "tensor/dequantize.h"

namespace candor {
namespace {

struct Shape {
  uint32_t heads = 1;
  uint32_t kv_heads = 1;
  uint32_t key_dim = 1;
  uint32_t value_dim = 1;
  uint32_t window = 0;
  float softcap = 0.0f;
  DType dtype = DType::kF16;
};

// Rows [first, first + rows) of a sequence, by position.
struct SequenceRows {
  uint32_t first = 0;
  uint32_t rows = 0;
};

class GpuAttentionTest : public GpuTest {
 protected:
  // Random keys, values and queries of sequences of the given lengths; pages full of NaN, in no order.
  void Make(const Shape& shape, const std::vector<uint32_t>& lengths) {
    shape_ = shape;
    const size_t element = shape.dtype == DType::kF16 ? 2 : 4;
    const auto rounded = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
    layout_.dtype = shape.dtype;
    layout_.kv_heads = static_cast<int32_t>(shape.kv_heads);
    layout_.key_dim = static_cast<int32_t>(shape.key_dim);
    layout_.value_dim = static_cast<int32_t>(shape.value_dim);
    layout_.key_head_stride = rounded(shape.key_dim * kPageTokens * element);
    layout_.value_head_stride = rounded(shape.value_dim * kPageTokens * element);
    layout_.key_offset = 128;  // another layer's bytes before and after
    layout_.value_offset = layout_.key_offset + shape.kv_heads * layout_.key_head_stride + 64;
    const size_t page_bytes = layout_.value_offset + shape.kv_heads * layout_.value_head_stride + 64;
    const uint32_t longest = *std::max_element(lengths.begin(), lengths.end());
    table_stride_ = (longest + kPageTokens - 1) / kPageTokens + 1;
    TestRandom random(longest + shape.key_dim);
    std::vector<uint64_t> table(lengths.size() * table_stride_, 0);
    keys_.clear();
    values_.clear();
    queries_.clear();
    pages_.assign(lengths.size(), {});
    for (size_t s = 0; s < lengths.size(); ++s) {
      keys_.push_back(Rounded(random.Normals(size_t{lengths[s]} * shape.kv_heads * shape.key_dim)));
      values_.push_back(Rounded(random.Normals(size_t{lengths[s]} * shape.kv_heads * shape.value_dim)));
      queries_.push_back(random.Normals(size_t{lengths[s]} * shape.heads * shape.key_dim));
      for (uint32_t page = 0; page * kPageTokens < lengths[s]; ++page) {
        pages_[s].push_back(Memory(page_bytes));
        std::memset(pages_[s].back().host, 0xff, page_bytes);
        table[s * table_stride_ + page] = pages_[s].back().address;
      }
    }
    table_ = Upload(table);
  }

  // What the pages can hold.
  std::vector<float> Rounded(std::vector<float> values) const {
    if (shape_.dtype == DType::kF16) {
      for (float& value : values) value = HalfToFloat(FloatToHalf(value));
    }
    return values;
  }

  struct StepRows {
    std::vector<int32_t> position;
    std::vector<int32_t> sequence;
  };
  static StepRows RowsOf(const std::vector<SequenceRows>& step) {
    StepRows rows;
    for (size_t s = 0; s < step.size(); ++s) {
      for (uint32_t p = step[s].first; p < step[s].first + step[s].rows; ++p) {
        rows.position.push_back(static_cast<int32_t>(p));
        rows.sequence.push_back(static_cast<int32_t>(s));
      }
    }
    return rows;
  }

  // Writes the rows of a step; `missing` more rows are there that must be passed over.
  void Write(const std::vector<SequenceRows>& step, uint32_t missing = 0) {
    StepRows rows = RowsOf(step);
    std::vector<float> k;
    std::vector<float> v;
    const uint32_t k_width = shape_.kv_heads * shape_.key_dim;
    const uint32_t v_width = shape_.kv_heads * shape_.value_dim;
    for (size_t r = 0; r < rows.position.size(); ++r) {
      const auto position = static_cast<size_t>(rows.position[r]);
      const auto sequence = static_cast<size_t>(rows.sequence[r]);
      k.insert(k.end(), &keys_[sequence][position * k_width], &keys_[sequence][position * k_width] + k_width);
      v.insert(v.end(), &values_[sequence][position * v_width], &values_[sequence][position * v_width] + v_width);
      v.insert(v.end(), 2, std::nanf(""));  // the stride
    }
    rows.position.insert(rows.position.end(), missing, -1);
    rows.sequence.insert(rows.sequence.end(), missing, 0);
    k.resize(rows.position.size() * k_width, 1.0f);
    v.resize(rows.position.size() * (v_width + 2), 1.0f);
    KvWriteGpuParams params{};
    SetGpuKvLayout(layout_, params);
    params.k = Upload(k);
    params.v = Upload(v);
    params.position = Upload(rows.position);
    params.sequence = Upload(rows.sequence);
    params.page_table = table_;
    params.k_stride = k_width;
    params.v_stride = v_width + 2;
    params.table_stride = table_stride_;
    Run(GpuKvWrite(shape_.dtype, params, static_cast<uint32_t>(rows.position.size())));
  }

  void WriteAll(const std::vector<uint32_t>& lengths) {
    std::vector<SequenceRows> step;
    for (const uint32_t length : lengths) step.push_back({0, length});
    Write(step);
  }

  // Attention of the rows of one step, [rows, heads * value_dim]; missing rows follow, whose output must stay.
  std::vector<float> Attend(const std::vector<SequenceRows>& step, uint32_t missing = 0) {
    StepRows rows = RowsOf(step);
    std::vector<float> q;
    const uint32_t width = shape_.heads * shape_.key_dim;
    for (size_t r = 0; r < rows.position.size(); ++r) {
      const float* query =
          &queries_[static_cast<size_t>(rows.sequence[r])][static_cast<size_t>(rows.position[r]) * width];
      q.insert(q.end(), query, query + width);
    }
    rows.position.insert(rows.position.end(), missing, -1);
    rows.sequence.insert(rows.sequence.end(), missing, 0);
    const auto count = static_cast<uint32_t>(rows.position.size());
    q.resize(size_t{count} * width, 1.0f);
    const uint32_t y_width = shape_.heads * shape_.value_dim;
    GpuFloats y = Floats(size_t{count} * y_width);
    GpuFloats parts = Floats(size_t{count} * shape_.heads * GpuAttentionSplits(count) * (shape_.value_dim + 2));
    AttentionGpuParams params{};
    SetGpuKvLayout(layout_, params);
    params.q = Upload(q);
    params.y = y.address();
    params.parts = parts.address();
    params.position = Upload(rows.position);
    params.sequence = Upload(rows.sequence);
    params.page_table = table_;
    params.rows = count;
    params.q_stride = width;
    params.y_stride = y_width;
    params.table_stride = table_stride_;
    params.heads = shape_.heads;
    params.window = shape_.window;
    params.scale = Scale();
    params.softcap = shape_.softcap;
    Run(GpuAttention(shape_.dtype, params));
    if (params.splits > 1) Run(GpuAttentionCombine(params));
    EXPECT_TRUE(y.GuardsIntact());
    EXPECT_TRUE(parts.GuardsIntact());
    for (size_t i = (count - missing) * size_t{y_width}; i < count * size_t{y_width}; ++i) {
      EXPECT_TRUE(std::isnan(y.values()[i])) << "a missing row was written";
    }
    return {y.values().begin(), y.values().begin() + (count - missing) * size_t{y_width}};
  }

  float Scale() const { return 1.0f / std::sqrt(static_cast<float>(shape_.key_dim)); }

  // Every row and head against the reference over what it sees.
  void CheckAttention(const std::string& what, const std::vector<SequenceRows>& step, const std::vector<float>& got) {
    const StepRows rows = RowsOf(step);
    const uint32_t group = shape_.heads / shape_.kv_heads;
    std::vector<double> want(shape_.value_dim);
    double worst = 0.0;
    std::string report;
    for (size_t r = 0; r < rows.position.size(); ++r) {
      for (uint32_t h = 0; h < shape_.heads; ++h) {
        const double tolerance = Reference(rows, r, h, h / group, want);
        for (uint32_t n = 0; n < shape_.value_dim; ++n) {
          const float value = got[(r * shape_.heads + h) * shape_.value_dim + n];
          double excess = std::abs(value - want[n]) / tolerance;
          if (std::isnan(excess)) excess = std::numeric_limits<double>::infinity();
          if (excess <= worst) continue;
          worst = excess;
          report = fmt::format("{}: row {} (position {}), head {}, value {}: expected {:.9g} +- {:.3g}, got {:.9g}",
                               what, r, rows.position[r], h, n, want[n], tolerance, value);
        }
      }
    }
    EXPECT_LE(worst, 1.0) << report << "\n" << GpuReproLine();
  }

  // Fills `want`; returns the tolerance: scores err by their additions and by exp's argument, weights by as much.
  double Reference(const StepRows& rows, size_t r, uint32_t head, uint32_t kv_head, std::vector<double>& want) {
    const auto position = static_cast<uint32_t>(rows.position[r]);
    const auto sequence = static_cast<size_t>(rows.sequence[r]);
    const uint32_t low = shape_.window > 0 && position >= shape_.window ? position - shape_.window + 1 : 0;
    std::vector<float> keys;
    std::vector<float> values;
    for (uint32_t p = low; p <= position; ++p) {
      const float* k = &keys_[sequence][(size_t{p} * shape_.kv_heads + kv_head) * shape_.key_dim];
      const float* v = &values_[sequence][(size_t{p} * shape_.kv_heads + kv_head) * shape_.value_dim];
      keys.insert(keys.end(), k, k + shape_.key_dim);
      values.insert(values.end(), v, v + shape_.value_dim);
    }
    const float* q = &queries_[sequence][(size_t{position} * shape_.heads + head) * shape_.key_dim];
    ReferenceAttention(q, keys.data(), values.data(), position - low + 1, shape_.key_dim, shape_.value_dim, Scale(),
                       shape_.softcap, want.data());
    double magnitude = 0.0;
    for (uint32_t d = 0; d < shape_.key_dim; ++d) magnitude += std::abs(q[d]) * 4.0 * Scale();
    return (SumRoundoff(shape_.key_dim) * magnitude + SumRoundoff(position - low + 1) + 64.0 * kRoundoff) * 4.0;
  }

  Shape shape_;
  KvLayerLayout layout_;
  uint32_t table_stride_ = 0;
  DeviceAddress table_ = 0;
  std::vector<std::vector<float>> keys_;     // per sequence, [position][kv head][key_dim]
  std::vector<std::vector<float>> values_;   // likewise
  std::vector<std::vector<float>> queries_;  // [position][head][key_dim]
  std::vector<std::vector<GpuMemory>> pages_;
};

const Shape kShapes[] = {
    {.heads = 1, .kv_heads = 1, .key_dim = 1, .value_dim = 1},
    {.heads = 9, .kv_heads = 3, .key_dim = 64, .value_dim = 64},
    {.heads = 4, .kv_heads = 2, .key_dim = 33, .value_dim = 31},
    {.heads = 8, .kv_heads = 1, .key_dim = 128, .value_dim = 128},
    {.heads = 4, .kv_heads = 1, .key_dim = 256, .value_dim = 256, .window = 70},
    {.heads = 6, .kv_heads = 2, .key_dim = 80, .value_dim = 96, .window = 5, .softcap = 20.0f},
    {.heads = 5, .kv_heads = 1, .key_dim = 576, .value_dim = 512},
    {.heads = 4, .kv_heads = 2, .key_dim = 40, .value_dim = 40, .dtype = DType::kF32},
    {.heads = 2, .kv_heads = 2, .key_dim = 7, .value_dim = 130, .softcap = 3.0f, .dtype = DType::kF32},
    {.heads = 3, .kv_heads = 1, .key_dim = 200, .value_dim = 201, .window = 64, .dtype = DType::kF32},
};

std::string NameOf(const Shape& s) {
  return fmt::format("{}/{} heads of {} and {}, window {}, softcap {}, {}", s.heads, s.kv_heads, s.key_dim, s.value_dim,
                     s.window, s.softcap, DTypeName(s.dtype));
}

TEST_F(GpuAttentionTest, KvWriteFillsExactlyItsPlaces) {
  for (const Shape& shape : kShapes) {
    Make(shape, {70, 3});
    Write({{0, 66}, {1, 2}}, 3);
    const size_t element = shape.dtype == DType::kF16 ? 2 : 4;
    for (size_t s = 0; s < 2; ++s) {
      for (size_t page = 0; page < pages_[s].size(); ++page) {
        // What must be in the page: NaN bytes wherever nothing was written.
        std::vector<std::byte> want(pages_[s][page].bytes, std::byte{0xff});
        const auto put = [&](size_t offset, float value) {
          const uint16_t half = FloatToHalf(value);
          std::memcpy(want.data() + offset, element == 2 ? static_cast<const void*>(&half) : &value, element);
        };
        for (uint32_t t = 0; t < kPageTokens; ++t) {
          const size_t p = page * kPageTokens + t;
          if (s == 0 ? p >= 66 : p < 1 || p >= 3) continue;
          for (uint32_t h = 0; h < shape.kv_heads; ++h) {
            for (uint32_t d = 0; d < shape.key_dim; ++d) {
              put(layout_.key_offset + h * layout_.key_head_stride + (d * kPageTokens + t) * element,
                  keys_[s][(p * shape.kv_heads + h) * shape.key_dim + d]);
            }
            for (uint32_t d = 0; d < shape.value_dim; ++d) {
              put(layout_.value_offset + h * layout_.value_head_stride + (t * shape.value_dim + d) * element,
                  values_[s][(p * shape.kv_heads + h) * shape.value_dim + d]);
            }
          }
        }
        EXPECT_EQ(std::memcmp(want.data(), pages_[s][page].host, want.size()), 0) << NameOf(shape) << " page " << page;
      }
    }
  }
}

TEST_F(GpuAttentionTest, KvWriteRoundsToNearestEvenAndKeepsExtremes) {
  Make({.heads = 1, .kv_heads = 1, .key_dim = 8, .value_dim = 8}, {1});
  keys_[0] = {1.00048828125f, 1.00146484375f, 65519.996f, 65520.0f,
              5.9604645e-8f,  2.9802322e-8f,  -1e-7f,     std::nanf("")};
  values_[0] = {-65520.0f,     3.0e38f, std::numeric_limits<float>::infinity(), 6.1035e-5f, 6.0975552e-5f, -0.0f,
                2.9802326e-8f, 0.1f};
  Write({{0, 1}});
  for (uint32_t i = 0; i < 8; ++i) {
    uint16_t key;
    uint16_t value;
    std::memcpy(&key, pages_[0][0].host + layout_.key_offset + i * kPageTokens * 2, 2);
    std::memcpy(&value, pages_[0][0].host + layout_.value_offset + i * 2, 2);
    if (i < 7) {
      EXPECT_EQ(key, FloatToHalf(keys_[0][i])) << keys_[0][i];
    }
    EXPECT_EQ(value, FloatToHalf(values_[0][i])) << values_[0][i];
  }
}

TEST_F(GpuAttentionTest, DecodeOneRowASequence) {
  for (const Shape& shape : kShapes) {
    const std::vector<uint32_t> lengths = {1, 64, 65, 200, 1500};
    Make(shape, lengths);
    WriteAll(lengths);
    std::vector<SequenceRows> step;
    for (const uint32_t length : lengths) step.push_back({length - 1, 1});
    CheckAttention("decode " + NameOf(shape), step, Attend(step, 2));
  }
}

TEST_F(GpuAttentionTest, PrefillOfSeveralSequences) {
  for (const Shape& shape : kShapes) {
    const std::vector<uint32_t> lengths = {150, 1, 70};
    Make(shape, lengths);
    WriteAll(lengths);
    const std::vector<SequenceRows> whole = {{0, 150}, {0, 1}, {0, 70}};
    CheckAttention("prefill " + NameOf(shape), whole, Attend(whole, 3));
    const std::vector<SequenceRows> rest = {{100, 50}, {0, 1}, {63, 2}};
    CheckAttention("prefill of the rest " + NameOf(shape), rest, Attend(rest));
  }
}

TEST_F(GpuAttentionTest, DecodeRowsAreIndependent) {
  const std::vector<uint32_t> lengths = {700, 130, 64};
  for (const Shape& shape : kShapes) {
    Make(shape, lengths);
    WriteAll(lengths);
    const std::vector<float> together = Attend({{690, 10}, {128, 2}, {60, 4}});
    const std::vector<float> first = Attend({{690, 10}, {0, 0}, {0, 0}});
    const std::vector<float> last = Attend({{0, 0}, {0, 0}, {63, 1}}, 1);
    EXPECT_EQ(std::memcmp(together.data(), first.data(), first.size() * 4), 0) << NameOf(shape);
    EXPECT_EQ(std::memcmp(together.data() + together.size() - last.size(), last.data(), last.size() * 4), 0)
        << NameOf(shape);
  }
}

// Pages hold NaN wherever nothing was written, so this is also seen by the other cases; here what a row may not see is
// NaN on purpose: later tokens, and tokens that the window has left behind.
TEST_F(GpuAttentionTest, UnseenTokensAreNeverMultiplied) {
  Shape shape = kShapes[1];
  shape.window = 40;
  Make(shape, {200});
  std::fill_n(values_[0].begin(), 100 * 3 * 64, std::nanf(""));
  std::fill_n(keys_[0].begin(), 100 * 3 * 64, std::nanf(""));
  std::fill(values_[0].begin() + 150 * 3 * 64, values_[0].end(), std::nanf(""));
  WriteAll({200});
  for (const uint32_t rows : {11u, 1u}) {
    const std::vector<SequenceRows> step = {{139, rows}};
    CheckAttention("window", step, Attend(step));
  }
  const std::vector<SequenceRows> tile = {{139, 11}};
  CheckAttention("tile", tile, Attend(tile, 20));
  const std::vector<float> poisoned = Attend({{149, 3}});
  EXPECT_TRUE(std::isfinite(poisoned[0]));
  EXPECT_TRUE(std::isnan(poisoned[9 * 64])) << "a NaN that is seen must surface";
}

TEST_F(GpuAttentionTest, WideKeysAreRefusedByName) {
  AttentionGpuParams params{};
  params.rows = 1;
  params.heads = 1;
  params.kv_heads = 1;
  params.key_dim = 2000;
  const Result<GpuLaunch> launch = GpuAttention(DType::kF16, params);
  ASSERT_FALSE(launch.ok());
  EXPECT_NE(launch.status().message().find("at most 1024 values a head, got 2000"), std::string::npos);
}

}  // namespace
}  // namespace candor
