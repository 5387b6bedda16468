// Scalar decoding of every tensor format: the specification that all faster paths are compared with.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "tensor/dtype.h"

namespace candor {

// Decodes `out.size()` elements from `blocks`. Precondition (checked): out.size() is a multiple of the block size and
// blocks.size() == BytesOf(dtype, out.size()). Unimplemented for a type without float meaning (I8 … I64). Thread safe.
Status Dequantize(DType dtype, std::span<const std::byte> blocks, std::span<float> out);

float HalfToFloat(uint16_t half);   // IEEE binary16
uint16_t FloatToHalf(float value);  // round to nearest even
float BFloat16ToFloat(uint16_t bits);

}  // namespace candor
