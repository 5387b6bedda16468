// One decoder per block format, each from one block to its elements. Private to src/tensor; callers use Dequantize.
// Layouts: ggml-common.h of ggml; formulas and order of operations: the `gguf` Python package's quants.py, whose
// results these match bit for bit. All arithmetic is float32, one rounding per operation.
#pragma once

#include <cstddef>

namespace candor {

// `block`: one block's bytes, any alignment. `out`: its elements, 32 or 256 floats.
using BlockDecoder = void (*)(const std::byte* block, float* out);

void DecodeQ4_0(const std::byte* block, float* out);
void DecodeQ4_1(const std::byte* block, float* out);
void DecodeQ5_0(const std::byte* block, float* out);
void DecodeQ5_1(const std::byte* block, float* out);
void DecodeQ8_0(const std::byte* block, float* out);

void DecodeQ2_K(const std::byte* block, float* out);
void DecodeQ3_K(const std::byte* block, float* out);
void DecodeQ4_K(const std::byte* block, float* out);
void DecodeQ5_K(const std::byte* block, float* out);
void DecodeQ6_K(const std::byte* block, float* out);

void DecodeIQ4_NL(const std::byte* block, float* out);
void DecodeIQ4_XS(const std::byte* block, float* out);
void DecodeMXFP4(const std::byte* block, float* out);

}  // namespace candor
