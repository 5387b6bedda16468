// The body of vector_math.h for one ISA.
#pragma once

#include "kernels/lib/vector_math-inl.h"
#include "kernels/lib/vector_math.h"

namespace candor::HWY_NAMESPACE {
namespace {

void ExpArray(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) hn::StoreU(ExpNonPositive(LoadF32(x + i)), F32(), y + i);
}

void TanhArray(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) hn::StoreU(Tanh(LoadF32(x + i)), F32(), y + i);
}

void WidenArray(const uint16_t* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) hn::StoreU(LoadF32(reinterpret_cast<const F16*>(x + i)), F32(), y + i);
}

void NarrowArray(const float* x, uint16_t* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) StoreF16(LoadF32(x + i), reinterpret_cast<F16*>(y + i));
}

constexpr VectorMath kArrays = {&ExpArray, &TanhArray, &WidenArray, &NarrowArray};

}  // namespace
}  // namespace candor::HWY_NAMESPACE
