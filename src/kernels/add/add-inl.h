// The body of add for one ISA; see lib/vector_math-inl.h for how it is included.
#pragma once

#include "kernels/add/add.h"
#include "kernels/lib/vector_math-inl.h"

namespace candor::HWY_NAMESPACE {
namespace {

void Add(const AddParams& params, int64_t row_begin, int64_t row_end) {
  const int64_t whole = params.width - params.width % kLanes;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* a = params.a + row * params.stride;
    const float* b = params.b + row * params.stride;
    float* y = params.y + row * params.stride;
    for (int64_t i = 0; i < whole; i += kLanes) hn::StoreU(hn::Add(LoadF32(a + i), LoadF32(b + i)), F32(), y + i);
    for (int64_t i = whole; i < params.width; ++i) y[i] = a[i] + b[i];
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
