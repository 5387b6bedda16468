// Constants of the GGUF container, versions 2 and 3 (github.com/ggml-org/ggml/blob/master/docs/gguf.md). Little endian.
#pragma once

#include <cstdint>
#include <string_view>

namespace candor {

inline constexpr std::string_view kGgufMagic = "GGUF";
inline constexpr uint32_t kGgufOldestVersion = 2;  // version 1 had 32-bit counts
inline constexpr uint32_t kGgufNewestVersion = 3;
inline constexpr uint32_t kGgufDefaultAlignment = 32;

// Limits that no real file comes near, so that a hostile one cannot make us take memory without end.
inline constexpr uint64_t kGgufMaxHeaderBytes = uint64_t{128} << 20;
inline constexpr uint64_t kGgufMaxEntries = 1'000'000;  // keys, tensors
inline constexpr uint64_t kGgufMaxKeyBytes = 65'535;
inline constexpr uint64_t kGgufMaxTensorNameBytes = 63;
inline constexpr uint32_t kGgufMaxDimensions = 4;

enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

}  // namespace candor
