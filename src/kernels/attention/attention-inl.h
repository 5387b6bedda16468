// The body of attention for one ISA; see lib/vector_math-inl.h for how it is included.
// A tile is up to 64 query rows (rows of one block times the heads of one KV head) that read the same pages. Per page:
// scores of all rows, one step of the online softmax per row (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018), then output = output * factor + weights * values. What a row does not see is never multiplied: a
// NaN there cannot reach it.
#pragma once

#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/multiply_tile-inl.h"
#include "kernels/attention/row_blocks.h"

namespace candor::HWY_NAMESPACE {
namespace {

constexpr int64_t kMaxTileRows = 64;
constexpr int64_t kOutputFloats = kMaxTileRows * 256;  // wider heads get fewer rows
constexpr int64_t kChunk = 64;                         // key dimensions or value columns widened at a time
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
static_assert(kOutputFloats / kMaxAttentionHeadDim >= 1);

constexpr int64_t RoundUp(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Query rows of one sequence and KV head, ascending in position; row r sees positions [low[r], position[r]], all in the
// same last page.
struct Tile {
  int64_t rows = 0;
  const float* q[kMaxTileRows];
  float* y[kMaxTileRows];
  int64_t low[kMaxTileRows];
  int64_t position[kMaxTileRows];
};

struct Scratch {
  alignas(64) float scores[kMaxTileRows * kPageTokens];  // scores, then weights
  alignas(64) float output[kOutputFloats];               // [rows][value_dim rounded up to vectors]
  alignas(64) float widened[kChunk * kPageTokens];
  alignas(64) float sum[kMaxTileRows * kLanes];  // the softmax denominator, per lane
  float max[kMaxTileRows];
  float factor[kMaxTileRows];
};

// The tokens [begin, end) of a page that a row sees.
struct Range {
  int64_t begin;
  int64_t end;
};

Range Visible(const Tile& tile, int64_t row, int64_t base) {
  return {Greatest(tile.low[row] - base, 0), Least(tile.position[row] - base + 1, kPageTokens)};
}

// One page as `rows` rows of the tile see it: the first rows, since lower bounds ascend.
struct PageView {
  int64_t base = 0;
  int64_t rows = 0;
  Range tokens{0, 0};  // seen by any row
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
};

// Copies rows [begin, end) of a matrix, `columns` wide, to floats with a stride of kChunk; zeros up to a whole vector.
template <class T>
void Widen(const T* from, int64_t stride, Range rows, int64_t columns, float* to) {
  const int64_t whole = columns - columns % kLanes;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const T* source = from + row * stride;
    float* target = to + row * kChunk;
    for (int64_t i = 0; i < whole; i += kLanes) hn::Store(LoadF32(source + i), F32(), target + i);
    if (whole == columns) continue;
    HWY_ALIGN T lanes[kLanes] = {};
    std::memcpy(lanes, source + whole, (columns - whole) * sizeof(T));
    hn::Store(LoadF32(lanes), F32(), target + whole);
  }
}

// scores[r][t] = q[r] . k[t] for the vectors of tokens that any row sees.
template <class T>
void ScorePage(const AttentionParams& params, const Tile& tile, const PageView& page, Scratch& scratch) {
  const T* keys = reinterpret_cast<const T*>(page.keys);
  const int64_t key_dim = params.layout.key_dim;
  const int64_t first = page.tokens.begin / kLanes * kLanes;
  TileProduct product;
  product.c_stride = kPageTokens;
  product.vectors = (RoundUp(page.tokens.end, kLanes) - first) / kLanes;
  const auto multiply = [&](const auto* b, int64_t d_begin, int64_t d_count) {
    product.k_end = d_count;
    product.start = d_begin == 0 ? Start::kZero : Start::kAdd;
    for (int64_t r = 0; r < page.rows; r += kGroupRows) {
      const int64_t rows = Least(kGroupRows, page.rows - r);
      for (int64_t i = 0; i < rows; ++i) product.a[i] = tile.q[r + i] + d_begin;
      product.c = scratch.scores + r * kPageTokens + first;
      Multiply(rows, product, b + first, kPageTokens);
    }
  };
  if (std::is_same_v<T, float> || page.rows <= kGroupRows) return multiply(keys, 0, key_dim);
  for (int64_t d = 0; d < key_dim; d += kChunk) {
    const int64_t count = Least(kChunk, key_dim - d);
    Widen(keys + d * kPageTokens, kPageTokens, {0, count}, kPageTokens, scratch.widened);
    multiply(scratch.widened, d, count);
  }
}

// One step of the online softmax for one row: scores become weights relative to the new maximum; max, sum and factor
// follow. Vectors without a visible token are left out, which changes nothing: they would add zeros.
void SoftmaxStep(const AttentionParams& params, Range tokens, int64_t row, Scratch& scratch) {
  const F32 d;
  float* scores = scratch.scores + row * kPageTokens;
  const int64_t first = tokens.begin / kLanes * kLanes;
  const VF32 scale = Splat(params.scale);
  VF32 max = Splat(scratch.max[row]);
  for (int64_t t = first; t < tokens.end; t += kLanes) {
    VF32 s = hn::Mul(hn::Load(d, scores + t), scale);
    if (params.softcap > 0.0f) s = hn::Mul(Tanh(hn::Div(s, Splat(params.softcap))), Splat(params.softcap));
    if (t < tokens.begin || t + kLanes > tokens.end) {
      const VF32 token = hn::Iota(d, static_cast<float>(t));
      const auto seen = hn::And(hn::Ge(token, Splat(tokens.begin)), hn::Lt(token, Splat(tokens.end)));
      s = hn::IfThenElse(seen, s, Splat(kMinusInfinity));
    }
    hn::Store(s, d, scores + t);
    max = hn::Max(max, s);
  }
  const float old_max = scratch.max[row];
  const float new_max = hn::GetLane(hn::MaxOfLanes(d, max));
  // All scores -inf so far: weights are 0 relative to any finite maximum, instead of e^(inf - inf).
  const float base = new_max == kMinusInfinity ? 0.0f : new_max;
  const float factor = new_max > old_max ? hn::GetLane(ExpNonPositive(Splat(old_max - base))) : 1.0f;
  VF32 sum = hn::Mul(hn::Load(d, scratch.sum + row * kLanes), Splat(factor));
  for (int64_t t = first; t < tokens.end; t += kLanes) {
    const VF32 weight = ExpNonPositive(hn::Sub(hn::Load(d, scores + t), Splat(base)));
    hn::Store(weight, d, scores + t);
    sum = hn::Add(sum, weight);
  }
  hn::Store(sum, d, scratch.sum + row * kLanes);
  scratch.max[row] = new_max;
  scratch.factor[row] = factor;
}

// output[r] = output[r] * factor[r] + weights[r] * values for rows [r, r + rows), each over its own visible tokens.
// Rows of a group differ by a few tokens at the ends of their ranges; those are done one row at a time, in the same
// order of tokens.
template <class T>
void AccumulateGroup(const Tile& tile, const PageView& page, int64_t r, int64_t rows, TileProduct& product,
                     const T* values, int64_t stride, Scratch& scratch) {
  const Range first = Visible(tile, r, page.base);
  const Range last = Visible(tile, r + rows - 1, page.base);
  const Range common{last.begin, first.end};
  float* const c = product.c;
  const auto multiply = [&](int64_t begin_row, int64_t count, Range range, Start start) {
    for (int64_t i = 0; i < count; ++i) product.a[i] = scratch.scores + (r + begin_row + i) * kPageTokens;
    product.factor = scratch.factor + r + begin_row;
    product.c = c + begin_row * product.c_stride;
    product.k_begin = range.begin;
    product.k_end = range.end;
    product.start = start;
    Multiply(count, product, values, stride);
  };
  if (first.begin == last.begin) {
    multiply(0, rows, common, Start::kScaleAdd);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      const Range seen = Visible(tile, r + i, page.base);
      multiply(i, 1, {seen.begin, Least(seen.end, common.begin)}, Start::kScaleAdd);
    }
    if (common.begin < common.end) multiply(0, rows, common, Start::kAdd);
  }
  const int64_t rest = Greatest(common.begin, common.end);
  for (int64_t i = 0; i < rows && last.end > rest; ++i) {
    const Range seen = Visible(tile, r + i, page.base);
    if (seen.end > rest) multiply(i, 1, {rest, seen.end}, Start::kAdd);
  }
  product.c = c;
}

template <class T>
void AccumulatePage(const AttentionParams& params, const Tile& tile, const PageView& page, Scratch& scratch) {
  const T* values = reinterpret_cast<const T*>(page.values);
  const int64_t value_dim = params.layout.value_dim;
  TileProduct product;
  product.c_stride = RoundUp(value_dim, kLanes);
  const auto accumulate = [&](const auto* b, int64_t stride, int64_t column, int64_t columns) {
    product.vectors = RoundUp(columns, kLanes) / kLanes;
    for (int64_t r = 0; r < page.rows; r += kGroupRows) {
      product.c = scratch.output + r * product.c_stride + column;
      AccumulateGroup(tile, page, r, Least(kGroupRows, page.rows - r), product, b, stride, scratch);
    }
  };
  const bool narrow = !std::is_same_v<T, float> && page.rows > kGroupRows;
  if (!narrow && value_dim % kLanes == 0) return accumulate(values, value_dim, 0, value_dim);
  for (int64_t n = 0; n < value_dim; n += kChunk) {
    const int64_t columns = Least(kChunk, value_dim - n);
    Widen(values + n, value_dim, page.tokens, columns, scratch.widened);
    accumulate(scratch.widened, kChunk, n, columns);
  }
}

void StoreOutput(const AttentionParams& params, const Tile& tile, const Scratch& scratch) {
  const int64_t value_dim = params.layout.value_dim;
  const int64_t whole = value_dim - value_dim % kLanes;
  for (int64_t r = 0; r < tile.rows; ++r) {
    const float* output = scratch.output + r * RoundUp(value_dim, kLanes);
    const VF32 sum = hn::SumOfLanes(F32(), hn::Load(F32(), scratch.sum + r * kLanes));
    for (int64_t n = 0; n < whole; n += kLanes)
      hn::StoreU(hn::Div(hn::Load(F32(), output + n), sum), F32(), tile.y[r] + n);
    if (whole < value_dim) {
      StoreFirst(hn::Div(hn::Load(F32(), output + whole), sum), tile.y[r] + whole, value_dim - whole);
    }
  }
}

template <class T>
void RunTile(const AttentionParams& params, const Tile& tile, const std::byte* const* pages, int64_t kv_head) {
  const KvLayerLayout& layout = params.layout;
  Scratch scratch;
  std::memset(scratch.output, 0, tile.rows * RoundUp(layout.value_dim, kLanes) * sizeof(float));
  std::memset(scratch.sum, 0, tile.rows * kLanes * sizeof(float));
  for (int64_t r = 0; r < tile.rows; ++r) scratch.max[r] = kMinusInfinity;
  const int64_t last_page = tile.position[tile.rows - 1] / kPageTokens;
  for (int64_t p = tile.low[0] / kPageTokens; p <= last_page; ++p) {
    PageView page;
    page.base = p * kPageTokens;
    page.rows = tile.rows;
    while (tile.low[page.rows - 1] >= page.base + kPageTokens) --page.rows;
    page.tokens = {Visible(tile, 0, page.base).begin, Visible(tile, page.rows - 1, page.base).end};
    page.keys = pages[p] + layout.key_offset + kv_head * layout.key_head_stride;
    page.values = pages[p] + layout.value_offset + kv_head * layout.value_head_stride;
    ScorePage<T>(params, tile, page, scratch);
    for (int64_t r = 0; r < page.rows; ++r) SoftmaxStep(params, Visible(tile, r, page.base), r, scratch);
    AccumulatePage<T>(params, tile, page, scratch);
  }
  StoreOutput(params, tile, scratch);
}

// Rows [row_begin, row_end) of one block, heads [head_begin, head_end) of one KV head, in tiles of nearly equal size.
void RunHeads(const AttentionParams& params, int64_t row_begin, int64_t row_end, int64_t head_begin, int64_t head_end) {
  const KvLayerLayout& layout = params.layout;
  const KvRows& kv_rows = *params.kv_rows;
  const int64_t heads = head_end - head_begin;
  const int64_t total = (row_end - row_begin) * heads;
  const int64_t most = Least(kMaxTileRows, kOutputFloats / RoundUp(layout.value_dim, kLanes));
  const int64_t tiles = (total + most - 1) / most;
  const int64_t tile_rows = Least(most, RoundUp((total + tiles - 1) / tiles, kGroupRows));
  const int64_t kv_head = head_begin / (params.heads / layout.kv_heads);
  const std::byte* const* pages = kv_rows.page_table[kv_rows.sequence[row_begin]];
  for (int64_t begin = 0; begin < total; begin += tile_rows) {
    Tile tile;
    tile.rows = Least(tile_rows, total - begin);
    for (int64_t i = 0; i < tile.rows; ++i) {
      const int64_t row = row_begin + (begin + i) / heads;
      const int64_t head = head_begin + (begin + i) % heads;
      tile.q[i] = params.q + row * params.q_stride + head * layout.key_dim;
      tile.y[i] = params.y + row * params.y_stride + head * layout.value_dim;
      tile.position[i] = kv_rows.position[row];
      tile.low[i] = params.window > 0 ? Greatest(0, tile.position[i] - params.window + 1) : 0;
    }
    if (layout.dtype == DType::kF16) {
      RunTile<F16>(params, tile, pages, kv_head);
    } else {
      RunTile<float>(params, tile, pages, kv_head);
    }
  }
}

void RunAttention(const AttentionParams& params, int64_t rows, int64_t unit_begin, int64_t unit_end) {
  const AttentionCut cut = CutAttention(params, rows);
  const int64_t group = params.heads / params.layout.kv_heads;
  int64_t first_unit = cut.blocks * cut.units_per_block;
  for (int64_t row = 0, end = 0; row < rows && first_unit > unit_begin; row = end) {
    end = RowBlockEnd(*params.kv_rows, rows, row);
    first_unit -= cut.units_per_block;
    const int64_t head_end = Least(unit_end - first_unit, cut.units_per_block) * cut.heads_per_unit;
    int64_t head = Greatest(unit_begin - first_unit, 0) * cut.heads_per_unit;
    while (head < head_end) {
      const int64_t next = Least(head_end, (head / group + 1) * group);
      RunHeads(params, row, end, head, next);
      head = next;
    }
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
