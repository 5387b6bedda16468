// The body of rope's rotation for one ISA; see lib/vector_math-inl.h for how it is included.
#pragma once

#include "kernels/lib/vector_math-inl.h"
#include "kernels/rope/rope.h"

namespace candor::HWY_NAMESPACE {
namespace {

struct Pair {
  VF32 a;
  VF32 b;
};

// (a, b) turned by the angle: a cos - b sin, b cos + a sin; one product of each sum is fused.
Pair Turn(Pair x, VF32 cosine, VF32 sine) {
  return {hn::NegMulAdd(x.b, sine, hn::Mul(x.a, cosine)), hn::MulAdd(x.a, sine, hn::Mul(x.b, cosine))};
}

void RotateHalf(float* x, const float* table, int64_t pairs) {
  const int64_t whole = pairs - pairs % kLanes;
  float* a = x;
  float* b = x + pairs;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Pair turned = Turn({LoadF32(a + i), LoadF32(b + i)}, LoadF32(table + i), LoadF32(table + pairs + i));
    hn::StoreU(turned.a, F32(), a + i);
    hn::StoreU(turned.b, F32(), b + i);
  }
  const int64_t rest = pairs - whole;
  if (rest == 0) return;
  const Pair turned = Turn({LoadFirst(a + whole, rest), LoadFirst(b + whole, rest)}, LoadFirst(table + whole, rest),
                           LoadFirst(table + pairs + whole, rest));
  StoreFirst(turned.a, a + whole, rest);
  StoreFirst(turned.b, b + whole, rest);
}

void RotateAdjacent(float* x, const float* table, int64_t pairs) {
  const int64_t whole = pairs - pairs % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    Pair pair;
    hn::LoadInterleaved2(F32(), x + 2 * i, pair.a, pair.b);
    pair = Turn(pair, LoadF32(table + i), LoadF32(table + pairs + i));
    hn::StoreInterleaved2(pair.a, pair.b, F32(), x + 2 * i);
  }
  const int64_t rest = pairs - whole;
  if (rest == 0) return;
  HWY_ALIGN float lanes[2 * kLanes] = {};
  std::memcpy(lanes, x + 2 * whole, 2 * rest * sizeof(float));
  Pair pair;
  hn::LoadInterleaved2(F32(), lanes, pair.a, pair.b);
  pair = Turn(pair, LoadFirst(table + whole, rest), LoadFirst(table + pairs + whole, rest));
  hn::StoreInterleaved2(pair.a, pair.b, F32(), lanes);
  std::memcpy(x + 2 * whole, lanes, 2 * rest * sizeof(float));
}

void Rotate(const RopeParams& params, int64_t row_begin, int64_t row_end) {
  const int64_t pairs = params.n_rot / 2;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* table = params.table + row * params.n_rot;
    float* x = params.x + row * params.x_stride;
    for (int32_t head = 0; head < params.heads; ++head, x += params.head_dim) {
      if (params.pairing == RopePairing::kHalf) {
        RotateHalf(x, table, pairs);
      } else {
        RotateAdjacent(x, table, pairs);
      }
    }
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
