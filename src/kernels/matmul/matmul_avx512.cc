// The AVX-512 VNNI vectors of the matmul kernels: 16 rows x 4 columns of codes, 16 floats. vpdpbusd sums in int32, so
// no code is too large; signed codes are multiplied as code + 128 and the activations' sum is taken off. GCC 12 takes
// the undefined upper halves inside its own intrinsics for a mistake of ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

#include <immintrin.h>

#include <cstdint>

#include "kernels/matmul/packed_format.h"
#include "kernels/matmul/tile_kernels.h"
#include "kernels/matmul/unroll.h"

namespace candor {
namespace {

struct V {
  using Codes = __m512i;
  using Floats = __m512;
  // The scales of the two halves of a block, and their mins as int16 pairs (m0, m1) per row.
  struct Sub {
    __m512 half[2];
    __m512i min_pair;
  };
  static constexpr int kRows = 16;
  static constexpr bool kDirect = true;
  static constexpr int kDirectTiles[4] = {4, 4, 4, 4};  // per number of activation rows
  static constexpr int kPanelTiles = 4;
  static constexpr int kPanelRows = 4;

  static Codes Load(const uint8_t* p) { return _mm512_load_si512(p); }
  static Codes LowNibbles(Codes v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
  static Codes HighNibbles(Codes v) { return _mm512_and_si512(_mm512_srli_epi16(v, 4), _mm512_set1_epi8(15)); }
  static Codes Or(Codes a, Codes b) { return _mm512_or_si512(a, b); }
  static Codes LookUp(const int8_t (&table)[16], Codes index) {
    const __m128i levels = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(levels), index);
  }
  // Bits kFrom, … of each byte moved to bit 4, …; kMask keeps them.
  template <int kFrom, int kMask>
  static Codes BitsToFour(Codes v) {
    if constexpr (kFrom < 4) v = _mm512_slli_epi16(v, 4 - kFrom);
    if constexpr (kFrom > 4) v = _mm512_srli_epi16(v, kFrom - 4);
    return _mm512_and_si512(v, _mm512_set1_epi8(kMask));
  }

  static Floats Splat(float value) { return _mm512_set1_ps(value); }
  static Floats LoadFloats(const float* p) { return _mm512_loadu_ps(p); }
  static void StoreFloats(Floats v, float* p) { _mm512_storeu_ps(p, v); }
  static Floats Add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats Mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats Fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats Negate(Floats v) { return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f)); }
  static __m256i Load32(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static __m128i Load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static Floats Halves(const uint8_t* p) { return _mm512_cvtph_ps(Load32(p)); }
  static Floats SignedBytes(const uint8_t* p) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(Load16(p))); }
  static Floats UnsignedBytes(const uint8_t* p) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(Load16(p))); }
  // 2^(e - 128); the two smallest are subnormal.
  static Floats ExponentScales(const uint8_t* p) {
    const __m512i e = _mm512_cvtepu8_epi32(Load16(p));
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
    const __mmask16 is_subnormal = _mm512_cmplt_epu32_mask(e, _mm512_set1_epi32(2));
    return _mm512_castsi512_ps(_mm512_mask_sllv_epi32(normal, is_subnormal, _mm512_set1_epi32(0x00200000), e));
  }
  template <DType kType>
  static Floats Widen(const uint8_t* p) {
    if constexpr (kType == DType::kF32) return _mm512_loadu_ps(p);
    if constexpr (kType == DType::kF16) return Halves(p);
    if constexpr (kType == DType::kBF16)
      return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(Load32(p)), 16));
  }

  template <auto kP>
  static Sub LoadSub(const uint8_t* side) {
    // int16 pairs (s0, s1) per row: the first is the low half of 32 bits, the second the high half.
    const __m512i pair = kP.min16 ? _mm512_cvtepu8_epi16(Load32(side)) : _mm512_cvtepi8_epi16(Load32(side));
    Sub sub;
    sub.half[0] = _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(pair, 16), 16));
    sub.half[1] = _mm512_cvtepi32_ps(_mm512_srai_epi32(pair, 16));
    if constexpr (kP.min16) sub.min_pair = _mm512_cvtepu8_epi16(Load32(side + 2 * kRows));
    return sub;
  }

  // The two int16 sums of a block's activations, or four activation codes, in every row.
  static __m512i SplatWord(const void* p) {
    int32_t word;
    __builtin_memcpy(&word, p, 4);
    return _mm512_set1_epi32(word);
  }
  static Floats ScaledSum(float scale, const int16_t* sums) {
    const __m512i sum = _mm512_madd_epi16(SplatWord(sums), _mm512_set1_epi16(1));
    return _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_cvtepi32_ps(sum));
  }
  static Floats MinDot(const Sub& sub, const int16_t* sums) {
    return _mm512_cvtepi32_ps(_mm512_madd_epi16(sub.min_pair, SplatWord(sums)));
  }

  // sum[t][a] += groups kFirst, … of the block.
  template <auto kP, int kFirst, int kGroups, int kT, int kA, typename Block, typename Rows>
  static void AddGroups(const Block* const (&w)[kT], const Rows& x, int64_t b, __m512i (&sum)[kT][kA]) {
    Unroll<kGroups>([&](auto i) {
      constexpr int kGroup = kFirst + (kGroups == 8 ? i / 2 + i % 2 * 4 : i);
      __m512i codes[kT];
      CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
        codes[t] = w[t]->template Codes<kGroup>();
        if constexpr (kP.is_signed) codes[t] = _mm512_xor_si512(codes[t], _mm512_set1_epi8(-128));
      }
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
        const __m512i quad = SplatWord(x.Quad(a, b, kGroup));
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) { sum[t][a] = _mm512_dpbusd_epi32(sum[t][a], codes[t], quad); }
      }
    });
  }

  template <auto kP, int kT, int kA, typename Block, typename Rows>
  [[gnu::always_inline]] static inline void Dot(const Block* const (&w)[kT], const Rows& x, int64_t b,
                                                Floats (&dot)[kT][kA]) {
    constexpr int kOffset = kP.is_signed ? 128 : kP.offset;
    __m512i sum[kT][kA];
    if constexpr (!kP.halves) {
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
        __m512i start = _mm512_setzero_si512();
        if constexpr (kOffset != 0) start = _mm512_madd_epi16(SplatWord(x.Sums(a, b)), _mm512_set1_epi16(-kOffset));
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) { sum[t][a] = start; }
      }
      AddGroups<kP, 0, 8>(w, x, b, sum);
      CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
        CANDOR_UNROLL for (int a = 0; a < kA; ++a) { dot[t][a] = _mm512_cvtepi32_ps(sum[t][a]); }
      }
    } else {
      // |half's sum * scale| <= 16 * 32 * 127 * 128 < 2^24: the floats are exact.
      Unroll<2>([&](auto h) {
        CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
          const __m512i start = _mm512_set1_epi32(-kOffset * x.Sums(a, b)[h]);
          CANDOR_UNROLL for (int t = 0; t < kT; ++t) { sum[t][a] = start; }
        }
        AddGroups<kP, 4 * h, 4>(w, x, b, sum);
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
          const __m512 scale = w[t]->Sub().half[h];
          CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
            const __m512 half = _mm512_cvtepi32_ps(sum[t][a]);
            dot[t][a] = h == 0 ? _mm512_mul_ps(half, scale) : _mm512_fmadd_ps(half, scale, dot[t][a]);
          }
        }
      });
    }
  }
};

#include "kernels/matmul/matmul_tiles-inl.h"

}  // namespace

const IsaMatMul kMatMulAvx512 = {&QuantizeAvx2, &KernelOf};

}  // namespace candor
