// The vector functions of vector_math-inl.h over arrays, so that their errors can be tested by themselves on every ISA.
#pragma once

#include <cstdint>

#include "platform/cpu_features.h"

namespace candor {

// `count` is a multiple of 16.
struct VectorMath {
  void (*exp_non_positive)(const float* x, float* y, int64_t count);
  void (*tanh)(const float* x, float* y, int64_t count);
  void (*widen_half)(const uint16_t* x, float* y, int64_t count);
  void (*narrow_to_half)(const float* x, uint16_t* y, int64_t count);
};
const VectorMath& CpuVectorMath(CpuIsa isa);

extern const VectorMath kVectorMathScalar;
extern const VectorMath kVectorMathAvx2;
extern const VectorMath kVectorMathAvx512;

}  // namespace candor
