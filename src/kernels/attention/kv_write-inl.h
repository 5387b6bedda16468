// Writing a step's keys (transposed) and values into their pages, for one ISA.
#pragma once

#include "kernels/attention/attention.h"
#include "kernels/lib/vector_math-inl.h"

namespace candor::HWY_NAMESPACE {
namespace {

constexpr int64_t kWriteRows = 16;
constexpr int64_t kWriteColumns = 64;

inline void StoreAs(VF32 v, float* to) { hn::StoreU(v, F32(), to); }
inline void StoreAs(VF32 v, F16* to) { StoreF16(v, to); }

template <class T>
void Narrow(const float* from, int64_t count, T* to) {
  const int64_t whole = count - count % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) StoreAs(LoadF32(from + i), to + i);
  if (whole == count) return;
  HWY_ALIGN T lanes[kLanes];
  StoreAs(LoadFirst(from + whole, count - whole), lanes);
  std::memcpy(to + whole, lanes, (count - whole) * sizeof(T));
}

// `rows` rows of one KV head into [dim][64 tokens], the first at token `slot`.
template <class T>
void WriteKeys(const float* k, int64_t stride, int64_t rows, int64_t dim, T* keys, int64_t slot) {
  T narrow[kWriteRows][kWriteColumns];
  for (int64_t begin = 0; begin < dim; begin += kWriteColumns) {
    const int64_t columns = Least(kWriteColumns, dim - begin);
    for (int64_t r = 0; r < rows; ++r) Narrow(k + r * stride + begin, columns, narrow[r]);
    for (int64_t d = 0; d < columns; ++d) {
      T* target = keys + (begin + d) * kPageTokens + slot;
      for (int64_t r = 0; r < rows; ++r) target[r] = narrow[r][d];
    }
  }
}

template <class T>
void WriteRows(const KvWriteParams& params, int64_t row, int64_t rows) {
  const KvLayerLayout& layout = params.layout;
  const KvRows& kv_rows = *params.kv_rows;
  const int64_t position = kv_rows.position[row];
  const int64_t slot = position % kPageTokens;
  std::byte* page = kv_rows.page_table[kv_rows.sequence[row]][position / kPageTokens];
  for (int64_t head = 0; head < layout.kv_heads; ++head) {
    const float* k = params.k + row * params.k_stride + head * layout.key_dim;
    T* keys = reinterpret_cast<T*>(page + layout.key_offset + head * layout.key_head_stride);
    WriteKeys(k, params.k_stride, rows, layout.key_dim, keys, slot);
    const float* v = params.v + row * params.v_stride + head * layout.value_dim;
    T* values =
        reinterpret_cast<T*>(page + layout.value_offset + head * layout.value_head_stride) + slot * layout.value_dim;
    for (int64_t r = 0; r < rows; ++r) Narrow(v + r * params.v_stride, layout.value_dim, values + r * layout.value_dim);
  }
}

void WriteKv(const KvWriteParams& params, int64_t row_begin, int64_t row_end) {
  const KvRows& kv_rows = *params.kv_rows;
  for (int64_t row = row_begin; row < row_end;) {
    const int64_t limit = Least(row_end, row + kWriteRows - kv_rows.position[row] % kWriteRows);
    int64_t end = row + 1;
    while (end < limit && kv_rows.sequence[end] == kv_rows.sequence[row]) ++end;
    if (params.layout.dtype == DType::kF16) {
      WriteRows<F16>(params, row, end - row);
    } else {
      WriteRows<float>(params, row, end - row);
    }
    row = end;
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
