// The body of gated_activation for one ISA; see lib/vector_math-inl.h for how it is included.
// All three activations have the shape x * e^-d * g for negative x and x * (1 - …) for the others, where the distance d
// >= 0 is exact to double: the relative error stays at a few ulp far out in the tails, where cancelling forms (1 +
// tanh, 1 + erf) lose everything.
#pragma once

#include "kernels/gated_activation/gated_activation.h"
#include "kernels/lib/vector_math-inl.h"

namespace candor::HWY_NAMESPACE {
namespace {

// e^-d as p * power.first * power.second.
struct Decay {
  VF32 p;
  PowerOfTwo power;
  VF32 Value() const { return hn::Mul(hn::Mul(p, power.first), power.second); }
};

// e^-d times any float is 0 long before these distances; there both factors of 2^n are 0 (SplitPowerOfTwo).
constexpr float kMaxDistance = 176.0f;
constexpr double kMaxDistanceLog2 = 254.0;

Decay DecayOf(VF32 distance) {
  const VF32 x = hn::Neg(hn::Min(distance, Splat(kMaxDistance)));
  const VF32 shifted = hn::MulAdd(x, Splat(kLog2E), Splat(kRoundShift));
  return {ExpReduced(SubtractLn2Times(x, hn::Sub(shifted, Splat(kRoundShift)))), SplitPowerOfTwo(shifted)};
}

// The same with d * log2(e) = distance_log2(x) formed in double.
template <class Function>
Decay DecayThroughDouble(VF32 x, Function distance_log2) {
  const F64 d64;
  const auto exponent = [&](auto wide) {
    return hn::Neg(hn::Min(distance_log2(wide), hn::Set(d64, kMaxDistanceLog2)));
  };
  const VF32 shifted =
      hn::Add(ThroughDouble(x, [&](VF64 wide) { return hn::Round(exponent(wide)); }), Splat(kRoundShift));
  const VF32 r = ThroughDouble(x, [&](VF64 wide) {
    const VF64 e = exponent(wide);
    return hn::Mul(hn::Sub(e, hn::Round(e)), hn::Set(d64, 0.6931471805599453));
  });
  return {ExpReduced(r), SplitPowerOfTwo(shifted)};
}

// x * e^-d * g, scaled in between so that neither a large x nor a tiny result is lost.
VF32 NegativeSide(VF32 x, const Decay& decay, VF32 g) {
  return hn::Mul(hn::Mul(hn::Mul(x, decay.power.first), hn::Mul(decay.p, g)), decay.power.second);
}

// x / (1 + e^-2u) from the decay e^-|2u|: x * sigmoid(2u).
VF32 TimesSigmoid(VF32 x, const Decay& decay) {
  const VF32 one = Splat(1.0f);
  const VF32 denominator = hn::Add(one, decay.Value());
  return hn::IfThenElse(hn::Lt(x, hn::Zero(F32())), NegativeSide(x, decay, hn::Div(one, denominator)),
                        hn::Div(x, denominator));
}

VF32 Silu(VF32 x) { return TimesSigmoid(x, DecayOf(hn::Abs(x))); }

// 0.5 x (1 + tanh u) = x sigmoid(2u), u = sqrt(2 / pi) (x + 0.044715 x^3).
VF32 GeluTanh(VF32 x) {
  constexpr double kTwiceRootLog2E = 1.5957691216057308 * 1.4426950408889634;  // 2 sqrt(2 / pi) log2(e)
  const auto distance_log2 = [](VF64 wide) {
    const F64 d64;
    const VF64 a = hn::Abs(wide);
    const VF64 cubic =
        hn::MulAdd(hn::Mul(a, a), hn::Set(d64, 0.044715 * kTwiceRootLog2E), hn::Set(d64, kTwiceRootLog2E));
    return hn::Mul(a, cubic);
  };
  return TimesSigmoid(x, DecayThroughDouble(x, distance_log2));
}

// e^(t^2 / 2) erfc(t / sqrt 2) / 2 for t >= 0: a polynomial in q = (t - 5) / (t + 5) over 1 + 0.8 t, interpolated at
// Chebyshev nodes of t in [0, 15] in 40-digit arithmetic; relative error of the rounded coefficients below 6e-9.
VF32 ScaledUpperTail(VF32 t) {
  const VF32 q = hn::Div(hn::Sub(t, Splat(5.0f)), hn::Add(t, Splat(5.0f)));
  constexpr float kCoefficients[] = {1.6267257160507143e-4f,  1.2533732842712197e-5f,  -1.3181460089981556e-3f,
                                     4.7453236766159534e-3f,  -1.0332707315683365e-2f, 1.4946422539651394e-2f,
                                     -1.1550331488251686e-2f, -8.174852468073368e-3f,  4.803807660937309e-2f,
                                     -1.0193333774805069e-1f, 3.845965266227722e-1f};
  VF32 sum = Splat(kCoefficients[0]);
  for (size_t i = 1; i < sizeof(kCoefficients) / sizeof(float); ++i) sum = hn::MulAdd(sum, q, Splat(kCoefficients[i]));
  return hn::Div(sum, hn::MulAdd(t, Splat(0.8f), Splat(1.0f)));
}

// x Phi(x), Phi the normal distribution: with the upper tail T(t) = e^(-t^2 / 2) ScaledUpperTail(t), x T(-x) or x (1 -
// T(x)).
VF32 Gelu(VF32 x) {
  constexpr double kHalfLog2E = 0.5 * 1.4426950408889634;
  const Decay decay =
      DecayThroughDouble(x, [](VF64 wide) { return hn::Mul(hn::Mul(wide, wide), hn::Set(F64(), kHalfLog2E)); });
  const VF32 tail = ScaledUpperTail(hn::Min(hn::Abs(x), Splat(15.0f)));
  const VF32 positive = hn::NegMulAdd(x, hn::Mul(decay.Value(), tail), x);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(F32())), NegativeSide(x, decay, tail), positive);
}

template <VF32 (*kActivation)(VF32)>
void ActivateRows(const GatedActivationParams& params, int64_t row_begin, int64_t row_end) {
  const int64_t whole = params.width - params.width % kLanes;
  const int64_t rest = params.width - whole;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* gate = params.gate + row * params.gate_stride;
    const float* up = params.up + row * params.up_stride;
    float* y = params.y + row * params.y_stride;
    for (int64_t i = 0; i < whole; i += kLanes)
      hn::StoreU(hn::Mul(kActivation(LoadF32(gate + i)), LoadF32(up + i)), F32(), y + i);
    if (rest == 0) continue;
    StoreFirst(hn::Mul(kActivation(LoadFirst(gate + whole, rest)), LoadFirst(up + whole, rest)), y + whole, rest);
  }
}

void GatedActivation(const GatedActivationParams& params, int64_t row_begin, int64_t row_end) {
  switch (params.activation) {
    case Activation::kSilu:
      return ActivateRows<&Silu>(params, row_begin, row_end);
    case Activation::kGeluTanh:
      return ActivateRows<&GeluTanh>(params, row_begin, row_end);
    case Activation::kGelu:
      return ActivateRows<&Gelu>(params, row_begin, row_end);
  }
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
