// What parameter structs of GPU kernels are made of. Included by C++ and by Slang (where __cplusplus is not defined),
// so that both see one layout: scalars of 4 and 8 bytes, pointers as 8-byte device addresses, members ordered so that
// neither side pads between them. A struct goes to the kernel as push constants (Vulkan) or as the one by-value
// argument (CUDA): at most 128 bytes.
#pragma once

#ifdef __cplusplus
#include <cstdint>

namespace candor {

using DeviceAddress = uint64_t;  // of a byte in device memory, as the kernel sees it; 0: none

inline constexpr uint32_t kMaxGpuParamBytes = 128;

}  // namespace candor

#define CANDOR_GPU_POINTER(type) ::candor::DeviceAddress
#define CANDOR_GPU_NAMESPACE_BEGIN namespace candor {
#define CANDOR_GPU_NAMESPACE_END }
#else
#define CANDOR_GPU_POINTER(type) type*
#define CANDOR_GPU_NAMESPACE_BEGIN
#define CANDOR_GPU_NAMESPACE_END
#endif
