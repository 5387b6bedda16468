// Vector helpers that every CPU kernel shares: exp with a separate power of two, tanh, f16 loads and stores, tails.
// Included once by each ISA's file (x_scalar.cc defines HWY_COMPILE_ONLY_SCALAR first); everything lives in that ISA's
// namespace. Source of the reductions and of tanh's polynomial: Moshier, Cephes Math Library 2.2 (expf, tanhf).
#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace candor::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;
using VF32 = hn::Vec<F32>;
using VF64 = hn::Vec<F64>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(F32()));

// Own versions, since an inline function of the standard library compiled here for this ISA could be the one that the
// linker keeps.
constexpr int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t Greatest(int64_t a, int64_t b) { return a > b ? a : b; }

inline VF32 Splat(float value) { return hn::Set(F32(), value); }

// The first `count` (< kLanes) lanes from memory, zeros after them.
inline VF32 LoadFirst(const float* from, int64_t count) {
  HWY_ALIGN float lanes[kLanes] = {};
  std::memcpy(lanes, from, count * sizeof(float));
  return hn::Load(F32(), lanes);
}

inline void StoreFirst(VF32 v, float* to, int64_t count) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, F32(), lanes);
  std::memcpy(to, lanes, count * sizeof(float));
}

// f16 storage. Widening is exact; narrowing rounds to nearest even, beyond the range it gives infinity.
using F16 = hwy::float16_t;

#if HWY_TARGET == HWY_SCALAR
inline float WidenHalf(uint16_t half) {
  const uint32_t magnitude = (half & 0x7fffu) << 13;
  float value;  // the f16 exponent and mantissa read as f32 are too small by 2^112
  std::memcpy(&value, &magnitude, sizeof(value));
  value *= 0x1p112f;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if ((half & 0x7c00u) == 0x7c00u) bits |= 0x7f800000u;  // infinity or NaN; the payload is already in place
  bits |= (half & 0x8000u) << 16;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint16_t NarrowToHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((bits >> 13) & 0x3ffu));
  if (bits >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more round to infinity
  if (bits < 0x38800000u) {  // subnormal result: adding 0.5 rounds the magnitude to a multiple of 2^-24
    float magnitude;
    std::memcpy(&magnitude, &bits, sizeof(magnitude));
    magnitude += 0.5f;
    std::memcpy(&bits, &magnitude, sizeof(bits));
    return static_cast<uint16_t>(sign | (bits - 0x3f000000u));
  }
  bits += 0xfffu + ((bits >> 13) & 1u);  // round to nearest even
  return static_cast<uint16_t>(sign | ((bits - 0x38000000u) >> 13));
}

inline VF32 LoadF32(const F16* from) { return hn::Set(F32(), WidenHalf(from->bits)); }
inline void StoreF16(VF32 v, F16* to) { to->bits = NarrowToHalf(hn::GetLane(v)); }
#else
using TagF16 = hn::Rebind<F16, F32>;
inline VF32 LoadF32(const F16* from) { return hn::PromoteTo(F32(), hn::LoadU(TagF16(), from)); }
inline void StoreF16(VF32 v, F16* to) { hn::StoreU(hn::DemoteTo(TagF16(), v), TagF16(), to); }
#endif
inline VF32 LoadF32(const float* from) { return hn::LoadU(F32(), from); }

// Applies f to the lanes widened to double and rounds the results to float.
template <class Function>
inline VF32 ThroughDouble(VF32 v, Function f) {
#if HWY_TARGET == HWY_SCALAR
  return hn::DemoteTo(F32(), f(hn::PromoteTo(F64(), v)));
#else
  const hn::Half<F32> half;
  const auto low = hn::DemoteTo(half, f(hn::PromoteTo(F64(), hn::LowerHalf(half, v))));
  const auto high = hn::DemoteTo(half, f(hn::PromoteTo(F64(), hn::UpperHalf(half, v))));
  return hn::Combine(F32(), high, low);
#endif
}

// Adding this to |v| < 2^22 rounds v to the nearest integer, which then stands in the low mantissa bits.
constexpr float kRoundShift = 0x1.8p23f;
constexpr float kLog2E = 0x1.715476p+0f;

// e^r for |r| <= ln(2) / 2 (and a little more), relative error below 0.8 ulp; 1 + r + r^2 q(r). NaN stays NaN.
inline VF32 ExpReduced(VF32 r) {
  VF32 q = hn::MulAdd(Splat(1.9875691500e-4f), r, Splat(1.3981999507e-3f));
  q = hn::MulAdd(q, r, Splat(8.3334519073e-3f));
  q = hn::MulAdd(q, r, Splat(4.1665795894e-2f));
  q = hn::MulAdd(q, r, Splat(1.6666665459e-1f));
  q = hn::MulAdd(q, r, Splat(5.0000001201e-1f));
  return hn::Add(hn::MulAdd(q, hn::Mul(r, r), r), Splat(1.0f));
}

// x - n ln 2 with ln 2 in two parts; the first has nine bits, so that n times it is exact.
inline VF32 SubtractLn2Times(VF32 x, VF32 n) {
  return hn::NegMulAdd(n, Splat(-2.12194440e-4f), hn::NegMulAdd(n, Splat(0.693359375f), x));
}

// e^x for x <= 0, error up to 1 ulp (as its test samples it); results below 2^-126 become 0. e^0 is exactly 1,
// e^-inf exactly 0, NaN stays NaN.
inline VF32 ExpNonPositive(VF32 x) {
  const hn::RebindToSigned<F32> di;
  const VF32 shifted = hn::MulAdd(x, Splat(kLog2E), Splat(kRoundShift));
  const VF32 p = ExpReduced(SubtractLn2Times(x, hn::Sub(shifted, Splat(kRoundShift))));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 127)));
  const VF32 result = hn::Mul(p, hn::BitCast(F32(), exponent));
  return hn::IfThenZeroElse(hn::Lt(x, Splat(-87.33654f)), result);
}

// 2^n as first * second for n in [-252, 252]; -253 and -254 give zeros. `n_shifted` is n + kRoundShift. A product with
// both in turn is exact unless it is subnormal.
struct PowerOfTwo {
  VF32 first;
  VF32 second;
};

inline PowerOfTwo SplitPowerOfTwo(VF32 n_shifted) {
  const hn::RebindToSigned<F32> di;
  const auto n = hn::Sub(hn::BitCast(di, n_shifted), hn::BitCast(di, Splat(kRoundShift)));
  const auto half = hn::ShiftRight<1>(n);
  const auto bias = hn::Set(di, 127);
  return {hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(half, bias))),
          hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(hn::Sub(n, half), bias)))};
}

// tanh, maximum error 2 ulp; odd, NaN stays NaN.
inline VF32 Tanh(VF32 x) {
  const VF32 a = hn::Abs(x);
  const VF32 x2 = hn::Mul(x, x);
  VF32 p = hn::MulAdd(Splat(-5.70498872745e-3f), x2, Splat(2.06390887954e-2f));
  p = hn::MulAdd(p, x2, Splat(-5.37397155531e-2f));
  p = hn::MulAdd(p, x2, Splat(1.33314422036e-1f));
  p = hn::MulAdd(p, x2, Splat(-3.33332819422e-1f));
  const VF32 small = hn::MulAdd(hn::Mul(p, x2), x, x);
  const VF32 e = ExpNonPositive(hn::Mul(a, Splat(-2.0f)));
  const VF32 large = hn::Div(hn::Sub(Splat(1.0f), e), hn::Add(Splat(1.0f), e));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, Splat(0.625f)), small, large), x);
}

}  // namespace
}  // namespace candor::HWY_NAMESPACE
