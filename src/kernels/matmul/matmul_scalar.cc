// The plain C++ "vectors" of the matmul kernels: 8 rows x 4 columns of codes, 8 floats. Same tile layout as AVX2.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/matmul/packed_codes.h"
#include "kernels/matmul/packed_format.h"
#include "kernels/matmul/tile_kernels.h"
#include "kernels/matmul/unroll.h"

namespace candor {
namespace {

struct V {
  static constexpr int kRows = 8;
  static constexpr bool kDirect = false;
  static constexpr int kDirectTiles[4] = {1, 1, 1, 1};
  static constexpr int kPanelTiles = 1;
  static constexpr int kPanelRows = 1;

  struct Codes {
    uint8_t at[4 * kRows];
  };
  struct Floats {
    float at[kRows];
  };
  // Integer scales [row][half] and mins.
  struct Sub {
    int16_t scale[kRows][2];
    int16_t min[kRows][2];
  };

  template <typename F>
  static Codes EachCode(F f) {
    Codes v;
    for (int i = 0; i < 4 * kRows; ++i) v.at[i] = static_cast<uint8_t>(f(i));
    return v;
  }
  template <typename F>
  static Floats Each(F f) {
    Floats v;
    for (int i = 0; i < kRows; ++i) v.at[i] = f(i);
    return v;
  }

  static Codes Load(const uint8_t* p) {
    return EachCode([&](int i) { return p[i]; });
  }
  static Codes LowNibbles(Codes v) {
    return EachCode([&](int i) { return v.at[i] & 15; });
  }
  static Codes HighNibbles(Codes v) {
    return EachCode([&](int i) { return v.at[i] >> 4; });
  }
  static Codes Or(Codes a, Codes b) {
    return EachCode([&](int i) { return a.at[i] | b.at[i]; });
  }
  static Codes LookUp(const int8_t (&table)[16], Codes index) {
    return EachCode([&](int i) { return table[index.at[i]]; });
  }
  // Bits kFrom, … of each byte moved to bit 4, …; kMask keeps them.
  template <int kFrom, int kMask>
  static Codes BitsToFour(Codes v) {
    return EachCode([&](int i) { return (v.at[i] >> kFrom << 4) & kMask; });
  }

  static Floats Splat(float value) {
    return Each([&](int) { return value; });
  }
  static Floats LoadFloats(const float* p) {
    return Each([&](int i) { return p[i]; });
  }
  static void StoreFloats(Floats v, float* p) { std::memcpy(p, v.at, sizeof(v.at)); }
  static Floats Add(Floats a, Floats b) {
    return Each([&](int i) { return a.at[i] + b.at[i]; });
  }
  static Floats Mul(Floats a, Floats b) {
    return Each([&](int i) { return a.at[i] * b.at[i]; });
  }
  // Two roundings: a fused multiply-add without its instruction would be a slow library call.
  static Floats Fma(Floats a, Floats b, Floats c) {
    return Each([&](int i) { return a.at[i] * b.at[i] + c.at[i]; });
  }
  static Floats Negate(Floats v) {
    return Each([&](int i) { return -v.at[i]; });
  }
  static Floats Halves(const uint8_t* p) {
    return Each([&](int i) { return PackedHalf(p, i); });
  }
  static Floats SignedBytes(const uint8_t* p) {
    return Each([&](int i) { return static_cast<float>(static_cast<int8_t>(p[i])); });
  }
  static Floats UnsignedBytes(const uint8_t* p) {
    return Each([&](int i) { return static_cast<float>(p[i]); });
  }
  static Floats ExponentScales(const uint8_t* p) {
    return Each([&](int i) { return ExponentScale(p[i]); });
  }
  template <DType kType>
  static Floats Widen(const uint8_t* p) {
    return Each([&](int i) {
      if constexpr (kType == DType::kF32) {
        float value;
        std::memcpy(&value, p + 4 * i, 4);
        return value;
      }
      uint16_t bits;
      std::memcpy(&bits, p + 2 * i, 2);
      return kType == DType::kF16 ? HalfToFloat(bits) : BFloat16ToFloat(bits);
    });
  }

  template <auto kP>
  static Sub LoadSub(const uint8_t* side) {
    Sub sub = {};
    for (int row = 0; row < kRows; ++row) {
      for (int half = 0; half < 2; ++half) {
        const uint8_t scale = side[2 * row + half];
        sub.scale[row][half] = kP.min16 ? scale : static_cast<int8_t>(scale);
        if constexpr (kP.min16) sub.min[row][half] = side[2 * (kRows + row) + half];
      }
    }
    return sub;
  }
  static Floats ScaledSum(float scale, const int16_t* sums) {
    return Splat(scale * static_cast<float>(sums[0] + sums[1]));
  }
  static Floats MinDot(const Sub& sub, const int16_t* sums) {
    return Each([&](int i) { return static_cast<float>(sub.min[i][0] * sums[0] + sub.min[i][1] * sums[1]); });
  }

  template <bool kSigned>
  static int32_t Quad(const uint8_t* codes, const int8_t* x) {
    int32_t sum = 0;
    for (int j = 0; j < 4; ++j) sum += (kSigned ? static_cast<int8_t>(codes[j]) : codes[j]) * x[j];
    return sum;
  }

  // One tile of a panel times one row.
  template <auto kP, typename Block, typename Rows>
  static void Dot(const Block* const (&w)[1], const Rows& x, int64_t b, Floats (&dot)[1][1]) {
    const int16_t* sums = x.Sums(0, b);
    int32_t total[kRows] = {};
    for (int half = 0; half < 2; ++half) {
      int32_t sum[kRows] = {};
      for (int group = 4 * half; group < 4 * half + 4; ++group) {
        const uint8_t* codes = w[0]->codes[group].at;
        for (int i = 0; i < kRows; ++i) sum[i] += Quad<kP.is_signed>(codes + 4 * i, x.Quad(0, b, group));
      }
      for (int i = 0; i < kRows; ++i) {
        sum[i] -= kP.offset * sums[half];
        total[i] += kP.halves ? sum[i] * w[0]->sub.scale[i][half] : sum[i];
      }
    }
    dot[0][0] = Each([&](int i) { return static_cast<float>(total[i]); });
  }
};

#include "kernels/matmul/matmul_tiles-inl.h"

}  // namespace

const IsaMatMul kMatMulScalar = {&QuantizeScalar, &KernelOf};

}  // namespace candor
