// The AVX2 vectors of the matmul kernels: 8 rows x 4 columns of codes, 8 floats.
// Unsigned codes: vpmaddubsw sums stay in int16 for as many groups as the largest code allows (15: 8 groups, 31: 4, 63:
// 2, with activations of at most 127 in size), then one vpmaddwd widens them and applies the integer scale. Signed
// codes: |w| * sign(w) x.
#include <immintrin.h>

#include <cstdint>

#include "kernels/matmul/packed_format.h"
#include "kernels/matmul/tile_kernels.h"
#include "kernels/matmul/unroll.h"

namespace candor {
namespace {

struct V {
  using Codes = __m256i;
  using Floats = __m256;
  // Integer scales of the two halves of a block as int16 pairs per row: (s0, s0), (s1, s1), (s0, s1); and the mins (m0,
  // m1).
  struct Sub {
    __m256i half[2];
    __m256i pair;
    __m256i min_pair;
  };
  static constexpr int kRows = 8;
  static constexpr bool kDirect = true;
  static constexpr int kDirectTiles[4] = {4, 2, 2, 2};  // per number of activation rows
  static constexpr int kPanelTiles = 2;
  static constexpr int kPanelRows = 4;

  static Codes Load(const uint8_t* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); }
  static Codes LowNibbles(Codes v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
  static Codes HighNibbles(Codes v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15)); }
  static Codes Or(Codes a, Codes b) { return _mm256_or_si256(a, b); }
  static Codes LookUp(const int8_t (&table)[16], Codes index) {
    const __m128i levels = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(levels), index);
  }
  // Bits kFrom, … of each byte moved to bit 4, …; kMask keeps them.
  template <int kFrom, int kMask>
  static Codes BitsToFour(Codes v) {
    if constexpr (kFrom < 4) v = _mm256_slli_epi16(v, 4 - kFrom);
    if constexpr (kFrom > 4) v = _mm256_srli_epi16(v, kFrom - 4);
    return _mm256_and_si256(v, _mm256_set1_epi8(kMask));
  }

  static Floats Splat(float value) { return _mm256_set1_ps(value); }
  static Floats LoadFloats(const float* p) { return _mm256_loadu_ps(p); }
  static void StoreFloats(Floats v, float* p) { _mm256_storeu_ps(p, v); }
  static Floats Add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats Mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats Fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats Negate(Floats v) { return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f)); }
  static __m128i Load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static __m128i Load8(const uint8_t* p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)); }
  static Floats Halves(const uint8_t* p) { return _mm256_cvtph_ps(Load16(p)); }
  static Floats SignedBytes(const uint8_t* p) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(Load8(p))); }
  static Floats UnsignedBytes(const uint8_t* p) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(Load8(p))); }
  // 2^(e - 128); the two smallest are subnormal.
  static Floats ExponentScales(const uint8_t* p) {
    const __m256i e = _mm256_cvtepu8_epi32(Load8(p));
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
    return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, subnormal, _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e)));
  }
  template <DType kType>
  static Floats Widen(const uint8_t* p) {
    if constexpr (kType == DType::kF32) return _mm256_loadu_ps(reinterpret_cast<const float*>(p));
    if constexpr (kType == DType::kF16) return Halves(p);
    if constexpr (kType == DType::kBF16)
      return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(Load16(p)), 16));
  }

  template <auto kP>
  static Sub LoadSub(const uint8_t* side) {
    Sub sub;
    sub.pair = kP.min16 ? _mm256_cvtepu8_epi16(Load16(side)) : _mm256_cvtepi8_epi16(Load16(side));
    const __m256i first = _mm256_set1_epi64x(0x0504'0504'0100'0100);
    const __m256i upper = _mm256_set_epi64x(0x0808'0808'0808'0808, 0, 0x0808'0808'0808'0808, 0);
    sub.half[0] = _mm256_shuffle_epi8(sub.pair, _mm256_add_epi8(first, upper));
    sub.half[1] = _mm256_shuffle_epi8(sub.pair, _mm256_add_epi8(first, _mm256_add_epi8(upper, _mm256_set1_epi8(2))));
    if constexpr (kP.min16) sub.min_pair = _mm256_cvtepu8_epi16(Load16(side + 2 * kRows));
    return sub;
  }

  // The two int16 sums of a block's activations, or four activation codes, in every row.
  static __m256i SplatWord(const void* p) {
    int32_t word;
    __builtin_memcpy(&word, p, 4);
    return _mm256_set1_epi32(word);
  }
  // The compiler would turn a chain of integer additions into a tree, whose leaves do not fit the registers.
  static __m256i Keep(__m256i v) {
    asm("" : "+x"(v));
    return v;
  }
  static Floats ScaledSum(float scale, const int16_t* sums) {
    const __m256i sum = _mm256_madd_epi16(SplatWord(sums), _mm256_set1_epi16(1));
    return _mm256_mul_ps(_mm256_set1_ps(scale), _mm256_cvtepi32_ps(sum));
  }
  static Floats MinDot(const Sub& sub, const int16_t* sums) {
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(sub.min_pair, SplatWord(sums)));
  }

  template <auto kP, int kT, int kA, typename Block, typename Rows>
  static void SignedSums(const Block* const (&w)[kT], const Rows& x, int64_t b, __m256i (&sum)[kT][kA]) {
    const __m256i ones = _mm256_set1_epi16(1);
    Unroll<8>([&](auto g) {
      __m256i codes[kT], sizes[kT];
      CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
        codes[t] = w[t]->template Codes<g>();
        sizes[t] = _mm256_abs_epi8(codes[t]);
      }
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
        const __m256i quad = SplatWord(x.Quad(a, b, g));
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
          const __m256i pairs = _mm256_maddubs_epi16(sizes[t], _mm256_sign_epi8(quad, codes[t]));
          const __m256i fours = _mm256_madd_epi16(pairs, ones);
          sum[t][a] = g == 0 ? fours : Keep(_mm256_add_epi32(sum[t][a], fours));
        }
      }
    });
  }

  template <auto kP, int kT, int kA, typename Block, typename Rows>
  static void UnsignedSums(const Block* const (&w)[kT], const Rows& x, int64_t b, __m256i (&sum)[kT][kA]) {
    constexpr int kChain = kP.max_code <= 15 ? (kP.halves ? 4 : 8) : kP.max_code <= 31 ? 4 : 2;
    Unroll<8 / kChain>([&](auto c) {
      __m256i chain[kT][kA];
      Unroll<kChain>([&](auto i) {
        // Both nibbles of a vector one after the other where the order is free.
        constexpr int kGroup = kChain == 8 ? i / 2 + i % 2 * 4 : c * kChain + i;
        __m256i codes[kT];
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) { codes[t] = w[t]->template Codes<kGroup>(); }
        CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
          const __m256i quad = SplatWord(x.Quad(a, b, kGroup));
          CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
            const __m256i pairs = _mm256_maddubs_epi16(codes[t], quad);
            chain[t][a] = i == 0 ? pairs : Keep(_mm256_add_epi16(chain[t][a], pairs));
          }
        }
      });
      CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
        __m256i factor = _mm256_set1_epi16(1);
        if constexpr (kP.halves) factor = w[t]->Sub().half[c * kChain / 4];
        CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
          const __m256i fours = _mm256_madd_epi16(chain[t][a], factor);
          sum[t][a] = c == 0 ? fours : Keep(_mm256_add_epi32(sum[t][a], fours));
        }
      }
    });
  }

  template <auto kP, int kT, int kA, typename Block, typename Rows>
  [[gnu::always_inline]] static inline void Dot(const Block* const (&w)[kT], const Rows& x, int64_t b,
                                                Floats (&dot)[kT][kA]) {
    __m256i sum[kT][kA];
    if constexpr (kP.is_signed) {
      SignedSums<kP>(w, x, b, sum);
    } else {
      UnsignedSums<kP>(w, x, b, sum);
    }
    CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
      if constexpr (kP.offset != 0 && !kP.halves) {
        const __m256i excess = _mm256_madd_epi16(SplatWord(x.Sums(a, b)), _mm256_set1_epi16(kP.offset));
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) { sum[t][a] = _mm256_sub_epi32(sum[t][a], excess); }
      }
      if constexpr (kP.offset != 0 && kP.halves) {
        const __m256i sums = SplatWord(x.Sums(a, b));
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
          const __m256i scaled = _mm256_madd_epi16(w[t]->Sub().pair, sums);
          sum[t][a] = _mm256_sub_epi32(sum[t][a], _mm256_slli_epi32(scaled, kP.offset == 32 ? 5 : 2));
        }
      }
      CANDOR_UNROLL for (int t = 0; t < kT; ++t) { dot[t][a] = _mm256_cvtepi32_ps(sum[t][a]); }
    }
  }
};

#include "kernels/matmul/matmul_tiles-inl.h"

}  // namespace

const IsaMatMul kMatMulAvx2 = {&QuantizeAvx2, &KernelOf};

}  // namespace candor
