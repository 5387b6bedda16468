// The body of rms_norm for one ISA; see lib/vector_math-inl.h for how it is included.
#pragma once

#include <cmath>

#include "kernels/lib/vector_math-inl.h"
#include "kernels/rms_norm/rms_norm.h"

namespace candor::HWY_NAMESPACE {
namespace {

// Sum of squares in double: the square of a finite float neither overflows nor loses a bit. Two sums over the lower and
// upper halves of the vectors, in ascending order.
double SumOfSquares(const float* x, int64_t width) {
  const int64_t whole = width - width % kLanes;
  VF64 low = hn::Zero(F64());
  VF64 high = hn::Zero(F64());
  const auto add = [&](VF32 v) {
#if HWY_TARGET == HWY_SCALAR
    const VF64 wide = hn::PromoteTo(F64(), v);
    low = hn::MulAdd(wide, wide, low);
#else
    const hn::Half<F32> half;
    const VF64 wide_low = hn::PromoteTo(F64(), hn::LowerHalf(half, v));
    const VF64 wide_high = hn::PromoteTo(F64(), hn::UpperHalf(half, v));
    low = hn::MulAdd(wide_low, wide_low, low);
    high = hn::MulAdd(wide_high, wide_high, high);
#endif
  };
  for (int64_t i = 0; i < whole; i += kLanes) add(LoadF32(x + i));
  if (whole < width) add(LoadFirst(x + whole, width - whole));
  return hn::GetLane(hn::SumOfLanes(F64(), hn::Add(low, high)));
}

void NormGroup(const float* x, const float* w, float* y, int64_t width, float eps) {
  const double mean = SumOfSquares(x, width) / static_cast<double>(width);
  const VF32 scale = Splat(static_cast<float>(1.0 / std::sqrt(mean + eps)));
  const int64_t whole = width - width % kLanes;
  const auto apply = [&](VF32 v, VF32 weight) { return hn::Mul(hn::Mul(v, scale), weight); };
  if (w == nullptr) {
    for (int64_t i = 0; i < whole; i += kLanes) hn::StoreU(hn::Mul(LoadF32(x + i), scale), F32(), y + i);
    if (whole < width) StoreFirst(hn::Mul(LoadFirst(x + whole, width - whole), scale), y + whole, width - whole);
    return;
  }
  for (int64_t i = 0; i < whole; i += kLanes) hn::StoreU(apply(LoadF32(x + i), LoadF32(w + i)), F32(), y + i);
  if (whole < width) {
    StoreFirst(apply(LoadFirst(x + whole, width - whole), LoadFirst(w + whole, width - whole)), y + whole,
               width - whole);
  }
}

void RmsNorm(const RmsNormParams& params, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    for (int64_t group = 0; group < params.groups; ++group) {
      const int64_t offset = group * params.width;
      NormGroup(params.x + row * params.x_stride + offset, params.w, params.y + row * params.y_stride + offset,
                params.width, params.eps);
    }
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
