// Random weights in the file's block formats and aligned memory, for the tests and benchmarks of this folder.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "kernels/matmul/matmul.h"
#include "kernels/matmul/packed_matrix.h"
#include "tensor/dequantize.h"
#include "tensor/dtype.h"

namespace candor {

inline constexpr DType kMatMulTypes[] = {DType::kF32,  DType::kF16,    DType::kBF16,   DType::kQ4_0,
                                         DType::kQ4_1, DType::kQ5_0,   DType::kQ5_1,   DType::kQ8_0,
                                         DType::kQ2_K, DType::kQ3_K,   DType::kQ4_K,   DType::kQ5_K,
                                         DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS, DType::kMXFP4};

// 64-byte aligned bytes.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size)
      : size_(size), bytes_(static_cast<std::byte*>(::operator new(size + 1, std::align_val_t{64}))) {
    std::memset(bytes_.get(), 0xa5, size);
  }
  std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  std::span<std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  size_t size_;
  std::unique_ptr<std::byte, Free> bytes_;
};

// Where a file block keeps its f16 scales, and which bytes are codes.
struct FileBlock {
  std::vector<int> halves;
  int codes_begin = 0;
  int codes_end = 0;
  int codes2_begin = 0;  // a second range of code bits, if any
  int codes2_end = 0;
};

inline FileBlock FileBlockOf(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return {{0}, 2, 18};
    case DType::kQ4_1:
      return {{0, 2}, 4, 20};
    case DType::kQ5_0:
      return {{0}, 2, 22};
    case DType::kQ5_1:
      return {{0, 2}, 4, 24};
    case DType::kQ8_0:
      return {{0}, 2, 34};
    case DType::kQ2_K:
      return {{80, 82}, 16, 80};
    case DType::kQ3_K:
      return {{108}, 0, 96};
    case DType::kQ4_K:
      return {{0, 2}, 16, 144};
    case DType::kQ5_K:
      return {{0, 2}, 16, 176};
    case DType::kQ6_K:
      return {{208}, 0, 192};
    case DType::kIQ4_XS:
      return {{0}, 8, 136};
    case DType::kMXFP4:
      return {{}, 1, 17};
    default:
      return {};
  }
}

// Random blocks: every code pattern, scales between 2^-9 and 2^-3 of either sign.
inline std::vector<std::byte> RandomWeights(DType dtype, int64_t rows, int64_t cols, std::mt19937& random) {
  std::vector<std::byte> bytes(*BytesOf(dtype, rows * cols));
  std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
  if (!Traits(dtype).quantized) {
    for (int64_t i = 0; i < rows * cols; ++i) {
      const float value = unit(random);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      const uint16_t half = dtype == DType::kF16 ? FloatToHalf(value) : static_cast<uint16_t>(bits >> 16);
      if (dtype == DType::kF32) std::memcpy(&bytes[4 * i], &bits, 4);
      if (dtype != DType::kF32) std::memcpy(&bytes[2 * i], &half, 2);
    }
    return bytes;
  }
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 255);
  const FileBlock block = FileBlockOf(dtype);
  for (size_t at = 0; at < bytes.size(); at += Traits(dtype).block_bytes) {
    for (const int half : block.halves) {
      const float sign = (random() & 1) != 0 ? 1.0f : -1.0f;
      const uint16_t bits = FloatToHalf(sign * std::exp2(-6.0f + 3.0f * unit(random)));
      std::memcpy(&bytes[at + half], &bits, 2);
    }
    if (dtype == DType::kMXFP4) bytes[at] = static_cast<std::byte>(120 + random() % 8);
  }
  return bytes;
}

inline std::vector<float> Decoded(DType dtype, std::span<const std::byte> blocks, int64_t elements) {
  std::vector<float> out(elements);
  const Status status = Dequantize(dtype, blocks, out);
  if (!status.ok()) out.clear();
  return out;
}

// A packed copy of file blocks.
struct PackedCopy {
  AlignedBytes bytes;
  PackedMatrix matrix;

  PackedCopy(DType dtype, CpuIsa isa, int64_t rows, int64_t cols, std::span<const std::byte> source)
      : bytes(PackedBytes(dtype, isa, rows, cols).value()) {
    PackRows(dtype, isa, rows, cols, source, bytes.span(), 0, rows);
    matrix = {dtype, isa, rows, cols, bytes.data(), bytes.size()};
  }
};

}  // namespace candor
