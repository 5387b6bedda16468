// Element types of tensors, with the block geometry of the quantised ones. Ids are GGUF's ggml_type ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace candor {

enum class DType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kBF16 = 30,
  kMXFP4 = 39,
};

struct DTypeTraits {
  DType dtype;
  std::string_view name;    // as GGUF tools print it: "Q4_K"
  uint32_t block_elements;  // elements per block; 1 for plain types
  uint32_t block_bytes;
  bool quantized;
};

// nullptr for an id that Candor does not know.
const DTypeTraits* FindDType(uint32_t ggml_type_id);
const DTypeTraits& Traits(DType dtype);
inline std::string_view DTypeName(DType dtype) { return Traits(dtype).name; }

// Name of any ggml type id, known to Candor or not ("IQ2_XXS", "type 77"), for error messages.
std::string GgmlTypeName(uint32_t ggml_type_id);

// Bytes of `elements` contiguous elements; nullopt when not a whole number of blocks or on overflow.
std::optional<uint64_t> BytesOf(DType dtype, uint64_t elements);

}  // namespace candor
