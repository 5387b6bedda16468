#include "tensor/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/checked_math.h"

namespace candor {
namespace {

constexpr DTypeTraits kTraits[] = {
    {DType::kF32, "F32", 1, 4, false},        {DType::kF16, "F16", 1, 2, false},
    {DType::kQ4_0, "Q4_0", 32, 18, true},     {DType::kQ4_1, "Q4_1", 32, 20, true},
    {DType::kQ5_0, "Q5_0", 32, 22, true},     {DType::kQ5_1, "Q5_1", 32, 24, true},
    {DType::kQ8_0, "Q8_0", 32, 34, true},     {DType::kQ2_K, "Q2_K", 256, 84, true},
    {DType::kQ3_K, "Q3_K", 256, 110, true},   {DType::kQ4_K, "Q4_K", 256, 144, true},
    {DType::kQ5_K, "Q5_K", 256, 176, true},   {DType::kQ6_K, "Q6_K", 256, 210, true},
    {DType::kIQ4_NL, "IQ4_NL", 32, 18, true}, {DType::kIQ4_XS, "IQ4_XS", 256, 136, true},
    {DType::kI8, "I8", 1, 1, false},          {DType::kI16, "I16", 1, 2, false},
    {DType::kI32, "I32", 1, 4, false},        {DType::kI64, "I64", 1, 8, false},
    {DType::kF64, "F64", 1, 8, false},        {DType::kBF16, "BF16", 1, 2, false},
    {DType::kMXFP4, "MXFP4", 32, 17, true},
};

// Types of ggml that no table above has: those Candor cannot read yet, and ids that ggml has removed.
struct OtherType {
  uint32_t id;
  std::string_view name;
};
constexpr OtherType kOtherTypes[] = {
    {4, "Q4_2 (removed from GGUF)"},
    {5, "Q4_3 (removed from GGUF)"},
    {9, "Q8_1"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {29, "IQ1_M"},
    {31, "Q4_0_4_4 (removed from GGUF)"},
    {32, "Q4_0_4_8 (removed from GGUF)"},
    {33, "Q4_0_8_8 (removed from GGUF)"},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {36, "IQ4_NL_4_4 (removed from GGUF)"},
    {37, "IQ4_NL_4_8 (removed from GGUF)"},
    {38, "IQ4_NL_8_8 (removed from GGUF)"},
    {40, "NVFP4"},
    {41, "Q1_0"},
};

}  // namespace

const DTypeTraits* FindDType(uint32_t ggml_type_id) {
  const auto found = std::find_if(std::begin(kTraits), std::end(kTraits), [&](const DTypeTraits& traits) {
    return static_cast<uint32_t>(traits.dtype) == ggml_type_id;
  });
  return found == std::end(kTraits) ? nullptr : &*found;
}

const DTypeTraits& Traits(DType dtype) {
  const DTypeTraits* traits = FindDType(static_cast<uint32_t>(dtype));
  CANDOR_CHECK(traits != nullptr, "DType without traits");
  return *traits;
}

std::string GgmlTypeName(uint32_t ggml_type_id) {
  if (const DTypeTraits* traits = FindDType(ggml_type_id)) return std::string(traits->name);
  for (const OtherType& other : kOtherTypes) {
    if (other.id == ggml_type_id) return std::string(other.name);
  }
  return fmt::format("type {}", ggml_type_id);
}

std::optional<uint64_t> BytesOf(DType dtype, uint64_t elements) {
  const DTypeTraits& traits = Traits(dtype);
  if (elements % traits.block_elements != 0) return std::nullopt;
  return CheckedMul(elements / traits.block_elements, traits.block_bytes);
}

}  // namespace candor
