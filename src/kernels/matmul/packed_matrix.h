// A weight matrix in the layout that one ISA's matmul kernels read: rows interleaved in tiles, codes and scales side by
// side, at about the bits per weight of the file. Packing is exact: no value changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "platform/cpu_features.h"
#include "tensor/dtype.h"

namespace candor {

// How activations enter a product with weights of a type: F32/F16/BF16 weights multiply unrounded f32 activations;
// quantised weights multiply int8 activations with one scale per 32 values.
enum class ActivationFormat { kF32, kInt8Per32 };

// A view; the bytes belong to the model's weight arena, 64-byte aligned.
struct PackedMatrix {
  DType dtype = DType::kF32;  // the file's type
  CpuIsa isa = CpuIsa::kScalar;
  int64_t rows = 0;  // outputs
  int64_t cols = 0;  // inputs, contiguous in the file
  const std::byte* data = nullptr;
  size_t bytes = 0;
};

ActivationFormat ActivationFormatFor(DType dtype);

// Rows per tile of `isa` for `dtype`; packing work is split at multiples of it.
int64_t PackedTileRows(DType dtype, CpuIsa isa);

// Size of the packed form, a multiple of 64 bytes. Unimplemented (names the type) when no kernel multiplies this type.
Result<size_t> PackedBytes(DType dtype, CpuIsa isa, int64_t rows, int64_t cols);

// Packs file rows [row_begin, row_end) (both multiples of the tile, or row_end == rows) of a rows x cols matrix.
// `source` holds the bytes of just these rows, as in the file; `packed` is the whole packed matrix (PackedBytes long).
// Disjoint row ranges may be packed by different threads at once.
void PackRows(DType dtype, CpuIsa isa, int64_t rows, int64_t cols, std::span<const std::byte> source,
              std::span<std::byte> packed, int64_t row_begin, int64_t row_end);

// Decodes one row back to floats, bit-identical to Dequantize of the file's row. out: [cols]. This is the embedding
// look-up.
void UnpackRow(const PackedMatrix& matrix, int64_t row, std::span<float> out);

}  // namespace candor
