// PackRows: the file's blocks, row by row, into interleaved tiles. Codes move in 32-bit words of four columns.
#include <cstring>
#include <utility>

#include "base/check.h"
#include "kernels/matmul/packed_format.h"
#include "kernels/matmul/packed_matrix.h"

namespace candor {
namespace {

constexpr uint32_t kLow4 = 0x0f0f0f0f;
constexpr uint32_t kLow2 = 0x03030303;
constexpr uint32_t kLow1 = 0x01010101;

uint32_t Word(const uint8_t* p) {
  uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}

// Where one row of a tile goes.
template <int kRows>
struct RowWriter {
  uint8_t* scales;
  uint8_t* codes;
  int64_t row;

  void Code(int64_t vector, uint32_t word) const { std::memcpy(codes + (vector * kRows + row) * 4, &word, 4); }
  template <typename T>
  void Scale(int64_t field_offset, T value) const {
    std::memcpy(scales + field_offset + row * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
  void Half(int64_t field_offset, const uint8_t* from) const {
    uint16_t half;
    std::memcpy(&half, from, 2);
    Scale(field_offset, half);
  }
  void Pair(int64_t field_offset, int first, int second) const {
    Scale(field_offset, static_cast<uint16_t>((first & 255) | (second & 255) << 8));
  }
};

// Bits 4g + j of x become bit g of byte j: the bit index is rotated by two places, as four delta swaps.
uint32_t SpreadHighBits(uint32_t x) {
  const auto swap = [&x](uint32_t mask, int shift) {
    const uint32_t t = (x ^ (x >> shift)) & mask;
    x ^= t ^ (t << shift);
  };
  swap(0x22222222, 1);  // index bits 1 and 0
  swap(0x0c0c0c0c, 2);  // index bits 2 and 1
  swap(0x00f000f0, 4);  // index bits 3 and 2
  swap(0x0000ff00, 8);  // index bits 4 and 3
  swap(0x22222222, 1);
  swap(0x0c0c0c0c, 2);
  swap(0x00f000f0, 4);
  swap(0x0000ff00, 8);
  return x;
}

template <DType kType, int kRows>
constexpr int64_t Side(int64_t block) {
  return SideOffset(ScaleBytesOf(FormatOf(kType).scales), kRows, block);
}
template <DType kType, int kRows>
constexpr int64_t Head(int64_t block) {
  return HeadOffset(ScaleBytesOf(FormatOf(kType).scales), kRows, block);
}

// Types with blocks of 32: scales, perhaps fifth bits, then 16 or 32 code bytes whose words already are the packed
// words.
template <DType kType, int kRows>
void PackSimpleBlock(const uint8_t* block, int64_t b, const RowWriter<kRows>& out) {
  constexpr PackedFormat kFormat = FormatOf(kType);
  constexpr int kVectors = CodeVectors(kFormat.codes);
  constexpr bool kFifth = kFormat.codes == CodeLayout::kNibblesPlus1;
  constexpr int kWords = kFifth ? 4 : kVectors;
  const int64_t side = Side<kType, kRows>(b);
  int at = ScaleBytesOf(kFormat.scales).side;
  if constexpr (kFormat.scales == ScaleLayout::kExponent) {
    out.Scale(side, block[0]);
  } else {
    out.Half(side, block);
    if constexpr (kFormat.scales == ScaleLayout::kHalfMin) out.Half(side + 2 * kRows, block + 2);
  }
  if constexpr (kFifth) {
    out.Code(b * kVectors + 4, SpreadHighBits(Word(block + at)));
    at += 4;
  }
  for (int v = 0; v < kWords; ++v) out.Code(b * kVectors + v, Word(block + at + 4 * v));
}

// The six-bit scales and mins of Q4_K and Q5_K.
std::pair<int, int> ScaleAndMin(const uint8_t* scales, int i) {
  if (i < 4) return {scales[i] & 63, scales[i + 4] & 63};
  return {(scales[i + 4] & 15) | (scales[i - 4] >> 6) << 4, (scales[i + 4] >> 4) | (scales[i] >> 6) << 4};
}

template <DType kType, int kRows>
void PackQ4KQ5K(const uint8_t* super, int64_t b0, const RowWriter<kRows>& out) {
  constexpr bool kFive = kType == DType::kQ5_K;
  constexpr int kVectors = kFive ? 5 : 4;
  out.Half(Head<kType, kRows>(b0), super);
  out.Half(Head<kType, kRows>(b0) + 2 * kRows, super + 2);
  const uint8_t* qh = super + 16;
  const uint8_t* qs = super + (kFive ? 48 : 16);
  for (int i = 0; i < 8; ++i) {
    const int64_t side = Side<kType, kRows>(b0 + i);
    const auto [scale, min] = ScaleAndMin(super + 4, i);
    out.Scale(side, static_cast<uint8_t>(scale));
    out.Scale(side + kRows, static_cast<uint8_t>(min));
    const uint8_t* codes = qs + 32 * (i / 2);
    const int shift = 4 * (i % 2);
    for (int v = 0; v < 4; ++v) {
      const uint32_t low = (Word(codes + 4 * v) >> shift) & kLow4;
      const uint32_t high = (Word(codes + 16 + 4 * v) >> shift) & kLow4;
      out.Code((b0 + i) * kVectors + v, low | high << 4);
    }
    if constexpr (kFive) {
      uint32_t fifth = 0;
      for (int g = 0; g < 8; ++g) fifth |= ((Word(qh + 4 * g) >> i) & kLow1) << g;
      out.Code((b0 + i) * kVectors + 4, fifth);
    }
  }
}

template <int kRows>
void PackQ6K(const uint8_t* super, int64_t b0, const RowWriter<kRows>& out) {
  constexpr int kVectors = 6;
  out.Half(Head<DType::kQ6_K, kRows>(b0), super + 208);
  for (int i = 0; i < 8; ++i) {
    const int half = i / 4, quarter = i % 4;
    const uint8_t* ql = super + 64 * half + 32 * (quarter & 1);
    const uint8_t* qh = super + 128 + 32 * half;
    const uint8_t* scales = super + 192 + 2 * i;
    out.Pair(Side<DType::kQ6_K, kRows>(b0 + i), scales[0], scales[1]);
    const int low_shift = 4 * (quarter >> 1), high_shift = 2 * quarter;
    uint32_t pairs[2] = {0, 0};
    for (int v = 0; v < 4; ++v) {
      const uint32_t low = (Word(ql + 4 * v) >> low_shift) & kLow4;
      const uint32_t high = (Word(ql + 16 + 4 * v) >> low_shift) & kLow4;
      out.Code((b0 + i) * kVectors + v, low | high << 4);
      pairs[0] |= ((Word(qh + 4 * v) >> high_shift) & kLow2) << (2 * v);
      pairs[1] |= ((Word(qh + 16 + 4 * v) >> high_shift) & kLow2) << (2 * v);
    }
    out.Code((b0 + i) * kVectors + 4, pairs[0]);
    out.Code((b0 + i) * kVectors + 5, pairs[1]);
  }
}

template <int kRows>
void PackQ2K(const uint8_t* super, int64_t b0, const RowWriter<kRows>& out) {
  constexpr DType kType = DType::kQ2_K;
  out.Half(Head<kType, kRows>(b0), super + 80);
  out.Half(Head<kType, kRows>(b0) + 2 * kRows, super + 82);
  for (int i = 0; i < 8; ++i) {
    const int64_t side = Side<kType, kRows>(b0 + i);
    const uint8_t* scales = super + 2 * i;
    out.Pair(side, scales[0] & 15, scales[1] & 15);
    out.Pair(side + 2 * kRows, scales[0] >> 4, scales[1] >> 4);
    const uint8_t* codes = super + 16 + 32 * (i / 4);
    const int shift = 2 * (i % 4);
    for (int v = 0; v < 4; ++v) {
      const uint32_t low = (Word(codes + 4 * v) >> shift) & kLow2;
      const uint32_t high = (Word(codes + 16 + 4 * v) >> shift) & kLow2;
      out.Code((b0 + i) * 4 + v, low | high << 4);
    }
  }
}

int ScaleQ3K(const uint8_t* scales, int i) {
  const int low = i < 8 ? scales[i] & 15 : scales[i - 8] >> 4;
  return (low | ((scales[8 + i % 4] >> (2 * (i / 4))) & 3) << 4) - 32;
}

template <int kRows>
void PackQ3K(const uint8_t* super, int64_t b0, const RowWriter<kRows>& out) {
  constexpr DType kType = DType::kQ3_K;
  out.Half(Head<kType, kRows>(b0), super + 108);
  for (int i = 0; i < 8; ++i) {
    out.Pair(Side<kType, kRows>(b0 + i), ScaleQ3K(super + 96, 2 * i), ScaleQ3K(super + 96, 2 * i + 1));
    const uint8_t* codes = super + 32 + 32 * (i / 4);
    const int shift = 2 * (i % 4);
    const auto three_bits = [&](int at) {
      return ((Word(codes + at) >> shift) & kLow2) | ((Word(super + at) >> i) & kLow1) << 2;
    };
    for (int v = 0; v < 4; ++v) out.Code((b0 + i) * 4 + v, three_bits(4 * v) | three_bits(16 + 4 * v) << 4);
  }
}

template <int kRows>
void PackIQ4XS(const uint8_t* super, int64_t b0, const RowWriter<kRows>& out) {
  constexpr DType kType = DType::kIQ4_XS;
  out.Half(Head<kType, kRows>(b0), super);
  const int high = super[2] | super[3] << 8;
  for (int i = 0; i < 8; ++i) {
    const int scale = ((super[4 + i / 2] >> (4 * (i % 2))) & 15) | ((high >> (2 * i)) & 3) << 4;
    out.Scale(Side<kType, kRows>(b0 + i), static_cast<int8_t>(scale - 32));
    for (int v = 0; v < 4; ++v) out.Code((b0 + i) * 4 + v, Word(super + 8 + 16 * i + 4 * v));
  }
}

template <DType kType, int kRows>
void PackBlock(const uint8_t* block, int64_t b, const RowWriter<kRows>& out) {
  if constexpr (kType == DType::kQ4_K || kType == DType::kQ5_K) {
    PackQ4KQ5K<kType, kRows>(block, b, out);
  } else if constexpr (kType == DType::kQ6_K) {
    PackQ6K(block, b, out);
  } else if constexpr (kType == DType::kQ2_K) {
    PackQ2K(block, b, out);
  } else if constexpr (kType == DType::kQ3_K) {
    PackQ3K(block, b, out);
  } else if constexpr (kType == DType::kIQ4_XS) {
    PackIQ4XS(block, b, out);
  } else {
    PackSimpleBlock<kType, kRows>(block, b, out);
  }
}

// A run of rows that lie in one tile.
struct TileRows {
  const uint8_t* source;  // the first row in the file
  uint8_t* tile;
  int64_t rows;  // <= the tile's
  int64_t cols;
};

template <DType kType, int kRows>
void PackCodes(const TileRows& t, const TileLayout& layout) {
  const int64_t columns = Traits(kType).block_elements;
  const int64_t bytes = Traits(kType).block_bytes;
  const int64_t blocks = t.cols / columns;
  for (int64_t row = 0; row < t.rows; ++row) {
    const RowWriter<kRows> out{t.tile, t.tile + layout.codes_offset, row};
    const uint8_t* block = t.source + row * blocks * bytes;
    for (int64_t i = 0; i < blocks; ++i, block += bytes)
      PackBlock<kType, kRows>(block, i * (columns / kBlockColumns), out);
  }
}

template <typename Element, int kRows>
void PackFloats(const TileRows& t, const TileLayout&) {
  constexpr int64_t kSize = sizeof(Element);
  for (int64_t row = 0; row < t.rows; ++row) {
    const uint8_t* from = t.source + row * t.cols * kSize;
    for (int64_t k = 0; k < t.cols; ++k) std::memcpy(t.tile + (k * kRows + row) * kSize, from + k * kSize, kSize);
  }
}

using PackTile = void (*)(const TileRows&, const TileLayout&);

template <int kRows>
PackTile PackTileOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return PackFloats<uint32_t, kRows>;
    case DType::kF16:
    case DType::kBF16:
      return PackFloats<uint16_t, kRows>;
    case DType::kQ4_0:
      return PackCodes<DType::kQ4_0, kRows>;
    case DType::kQ4_1:
      return PackCodes<DType::kQ4_1, kRows>;
    case DType::kQ5_0:
      return PackCodes<DType::kQ5_0, kRows>;
    case DType::kQ5_1:
      return PackCodes<DType::kQ5_1, kRows>;
    case DType::kQ8_0:
      return PackCodes<DType::kQ8_0, kRows>;
    case DType::kQ2_K:
      return PackCodes<DType::kQ2_K, kRows>;
    case DType::kQ3_K:
      return PackCodes<DType::kQ3_K, kRows>;
    case DType::kQ4_K:
      return PackCodes<DType::kQ4_K, kRows>;
    case DType::kQ5_K:
      return PackCodes<DType::kQ5_K, kRows>;
    case DType::kQ6_K:
      return PackCodes<DType::kQ6_K, kRows>;
    case DType::kIQ4_NL:
      return PackCodes<DType::kIQ4_NL, kRows>;
    case DType::kIQ4_XS:
      return PackCodes<DType::kIQ4_XS, kRows>;
    case DType::kMXFP4:
      return PackCodes<DType::kMXFP4, kRows>;
    default:
      return nullptr;
  }
}

}  // namespace

void PackRows(DType dtype, CpuIsa isa, int64_t rows, int64_t cols, std::span<const std::byte> source,
              std::span<std::byte> packed, int64_t row_begin, int64_t row_end) {
  const int64_t tile_rows = PackedTileRows(dtype, isa);
  const TileLayout layout = TileLayoutOf(dtype, tile_rows, cols);
  const PackTile pack = tile_rows == 16 ? PackTileOf<16>(dtype) : PackTileOf<8>(dtype);
  CANDOR_CHECK(pack != nullptr, "PackRows: no packed form of this type");
  CANDOR_CHECK(row_begin % tile_rows == 0 && (row_end % tile_rows == 0 || row_end == rows),
               "PackRows: a range that cuts a tile");
  const int64_t row_bytes = cols / Traits(dtype).block_elements * Traits(dtype).block_bytes;
  CANDOR_CHECK(static_cast<int64_t>(source.size()) >= (row_end - row_begin) * row_bytes, "PackRows: source too short");
  CANDOR_CHECK(static_cast<int64_t>(packed.size()) >= (rows + tile_rows - 1) / tile_rows * layout.bytes,
               "PackRows: packed too short");
  for (int64_t row = row_begin; row < row_end; row += tile_rows) {
    TileRows t;
    t.source = reinterpret_cast<const uint8_t*>(source.data()) + (row - row_begin) * row_bytes;
    t.tile = reinterpret_cast<uint8_t*>(packed.data()) + row / tile_rows * layout.bytes;
    t.rows = row_end - row < tile_rows ? row_end - row : tile_rows;
    t.cols = cols;
    if (t.rows < tile_rows) std::memset(t.tile, 0, layout.bytes);
    pack(t, layout);
  }
}

}  // namespace candor
