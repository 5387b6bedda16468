#include "tensor/dequantize.h"

#include <cstring>

#include "base/check.h"
#include "tensor/block_decoders.h"

namespace candor {
namespace {

// nullptr for types whose elements stand alone.
BlockDecoder DecoderOf(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
      return DecodeQ4_0;
    case DType::kQ4_1:
      return DecodeQ4_1;
    case DType::kQ5_0:
      return DecodeQ5_0;
    case DType::kQ5_1:
      return DecodeQ5_1;
    case DType::kQ8_0:
      return DecodeQ8_0;
    case DType::kQ2_K:
      return DecodeQ2_K;
    case DType::kQ3_K:
      return DecodeQ3_K;
    case DType::kQ4_K:
      return DecodeQ4_K;
    case DType::kQ5_K:
      return DecodeQ5_K;
    case DType::kQ6_K:
      return DecodeQ6_K;
    case DType::kIQ4_NL:
      return DecodeIQ4_NL;
    case DType::kIQ4_XS:
      return DecodeIQ4_XS;
    case DType::kMXFP4:
      return DecodeMXFP4;
    default:
      return nullptr;
  }
}

template <typename Stored, typename Convert>
void DecodeEach(std::span<const std::byte> blocks, std::span<float> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, blocks.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(stored);
  }
}

Status DecodePlain(DType dtype, std::span<const std::byte> elements, std::span<float> out) {
  switch (dtype) {
    case DType::kF32:
      if (!out.empty()) std::memcpy(out.data(), elements.data(), elements.size());
      return OkStatus();
    case DType::kF64:
      DecodeEach<double>(elements, out, [](double value) { return static_cast<float>(value); });
      return OkStatus();
    case DType::kF16:
      DecodeEach<uint16_t>(elements, out, HalfToFloat);
      return OkStatus();
    case DType::kBF16:
      DecodeEach<uint16_t>(elements, out, BFloat16ToFloat);
      return OkStatus();
    default:
      return UnimplementedError(
          "expected a tensor type that holds weights, got {}; use a model with float or quantised weights",
          DTypeName(dtype));
  }
}

}  // namespace

Status Dequantize(DType dtype, std::span<const std::byte> blocks, std::span<float> out) {
  const DTypeTraits& traits = Traits(dtype);
  CANDOR_CHECK(BytesOf(dtype, out.size()) == blocks.size(), "Dequantize: blocks and elements differ in number");
  const BlockDecoder decode = DecoderOf(dtype);
  if (decode == nullptr) return DecodePlain(dtype, blocks, out);
  for (size_t begin = 0; begin < out.size(); begin += traits.block_elements) {
    decode(blocks.data() + begin / traits.block_elements * traits.block_bytes, out.data() + begin);
  }
  return OkStatus();
}

}  // namespace candor
