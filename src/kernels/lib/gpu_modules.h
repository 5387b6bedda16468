// The GPU kernels inside the program: which modules exist, for which targets, and their binaries. A module's entry
// points are the same for Vulkan and CUDA. The table is made when Candor is built (docs/gpu_kernels.md); it is empty in
// a build without GPU support. All functions are thread safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace candor {

enum class GpuTarget { kSpirv, kCubin, kPtx };

struct GpuEntry {
  std::string_view name;
  uint32_t threads;  // of a workgroup, all in x
};

struct GpuBinary {
  GpuTarget target;
  uint32_t architecture;  // of a cubin: 90 for sm_90; else 0
  uint64_t offset;        // in the embedded file
  uint64_t packed_bytes;  // there, one zstd frame
  uint64_t bytes;
};

struct GpuModule {
  std::string_view name;
  std::span<const GpuEntry> entries;
  std::span<const uint32_t> spirv_capabilities;  // SPIR-V's numbers: what a Vulkan device must offer
  std::span<const GpuBinary> binaries;
};

std::span<const GpuModule> GpuModules();
const GpuModule* FindGpuModule(std::string_view name);  // nullptr: no such module
const GpuEntry* FindGpuEntry(const GpuModule& module, std::string_view name);

// nullptr where the module does not exist for Vulkan.
const GpuBinary* VulkanBinary(const GpuModule& module);
// What a CUDA device of compute capability major.minor loads: the newest cubin of its major version that is not newer
// than it, else PTX if the device is newer than what the PTX was made for; else nullptr.
const GpuBinary* CudaBinary(const GpuModule& module, uint32_t major, uint32_t minor);

// The binary itself; SPIR-V in whole words. DataLoss if the program's file is damaged.
Result<std::vector<std::byte>> UnpackGpuBinary(const GpuBinary& binary);

}  // namespace candor
