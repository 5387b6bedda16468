// The product that both halves of attention are: c[r, n] += sum_k a[r, k] * b[k, n] for up to six query rows, b being a
// page of keys
// ([key_dim][64 tokens]) or of values ([64 tokens][value_dim]). Every c has one fused chain over ascending k, so that
// its bits do not depend on the rows or columns computed beside it, nor on where the chain is cut and resumed.
#pragma once

#include "kernels/lib/vector_math-inl.h"

namespace candor::HWY_NAMESPACE {
namespace {

constexpr int kGroupRows = 6;

// What c holds before the first product: zero, c, or c * factor[r].
enum class Start { kZero, kAdd, kScaleAdd };

struct TileProduct {
  const float* a[kGroupRows];     // per row
  const float* factor = nullptr;  // [rows], read by kScaleAdd
  float* c = nullptr;             // [rows][c_stride]
  int64_t c_stride = 0;
  int64_t k_begin = 0;
  int64_t k_end = 0;
  int64_t vectors = 0;  // columns in whole vectors
  Start start = Start::kZero;
};

// Accumulators, one strip of b and one broadcast fit the registers: 16 (AVX2 and below) or 32 of them.
template <int kRows>
constexpr int StripVectors() {
  if (kLanes == 16) return kRows <= 2 ? 8 : 4;
  return kRows == 1 ? 8 : kRows <= 3 ? 4 : 2;
}

template <int kRows, int kVectors, class T>
HWY_INLINE void MultiplyStrip(const TileProduct& product, const T* b, int64_t b_stride, int64_t column) {
  VF32 sum[kRows][kVectors];
  float* c = product.c + column;
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      if (product.start == Start::kZero) {
        sum[r][v] = hn::Zero(F32());
      } else {
        sum[r][v] = hn::LoadU(F32(), c + r * product.c_stride + v * kLanes);
        if (product.start == Start::kScaleAdd) sum[r][v] = hn::Mul(sum[r][v], Splat(product.factor[r]));
      }
    }
  }
  const float* a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = product.a[r];
  b += product.k_begin * b_stride + column;
  const int64_t k_end = product.k_end;
  for (int64_t k = product.k_begin; k < k_end; ++k, b += b_stride) {
    VF32 bk[kVectors];
    for (int v = 0; v < kVectors; ++v) bk[v] = LoadF32(b + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const VF32 ak = Splat(a[r][k]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(ak, bk[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], F32(), c + r * product.c_stride + v * kLanes);
  }
}

template <int kRows, class T>
void MultiplyRows(const TileProduct& product, const T* b, int64_t b_stride) {
  constexpr int kWide = StripVectors<kRows>();
  int64_t v = 0;
  for (; v + kWide <= product.vectors; v += kWide) MultiplyStrip<kRows, kWide>(product, b, b_stride, v * kLanes);
  if constexpr (kWide > 4) {
    if (product.vectors - v >= 4) MultiplyStrip<kRows, 4>(product, b, b_stride, v * kLanes), v += 4;
  }
  if constexpr (kWide > 2) {
    if (product.vectors - v >= 2) MultiplyStrip<kRows, 2>(product, b, b_stride, v * kLanes), v += 2;
  }
  if (v < product.vectors) MultiplyStrip<kRows, 1>(product, b, b_stride, v * kLanes);
}

template <class T>
void Multiply(int64_t rows, const TileProduct& product, const T* b, int64_t b_stride) {
  switch (rows) {
    case 1:
      return MultiplyRows<1>(product, b, b_stride);
    case 2:
      return MultiplyRows<2>(product, b, b_stride);
    case 3:
      return MultiplyRows<3>(product, b, b_stride);
    case 4:
      return MultiplyRows<4>(product, b, b_stride);
    case 5:
      return MultiplyRows<5>(product, b, b_stride);
    default:
      return MultiplyRows<6>(product, b, b_stride);
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
