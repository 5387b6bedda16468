// One launch of a GPU kernel, the same for Vulkan and CUDA: which entry point of which module, how many workgroups, and
// the bytes of its parameters. The <op>/gpu.h files make them; a device's program runs them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/lib/gpu_types.h"

namespace candor {

// What of a device the launches depend on.
struct GpuShape {
  uint32_t subgroup_size = 32;  // a power of two, 4 to 128; 32 on CUDA
};

struct GpuGrid {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

// Every device takes at least this many workgroups in each dimension.
inline constexpr uint32_t kMaxGroups = 65535;
// `groups` workgroups, however many, as x and y; FoldedGroup of lanes.slang is the way back. Groups past the last one
// have nothing to do.
inline constexpr uint32_t kGridFold = 32768;
inline GpuGrid FoldGrid(uint64_t groups, uint32_t z = 1) {
  if (groups <= kGridFold) return {static_cast<uint32_t>(groups), 1, z};
  return {kGridFold, static_cast<uint32_t>((groups + kGridFold - 1) / kGridFold), z};
}

inline constexpr uint32_t DivideUp(uint64_t n, uint64_t by) { return static_cast<uint32_t>((n + by - 1) / by); }

// One thread a value of a row; rows in y.
inline constexpr uint32_t kElementThreads = 256;  // kGroupThreads of lanes.slang
inline GpuGrid ElementGrid(uint32_t width, uint32_t rows) { return {DivideUp(width, kElementThreads), rows, 1}; }

// Weights may be read this many bytes past their end, and start at a multiple of kGpuAlignment. Activations start there
// too, and their strides are multiples of four floats.
inline constexpr uint64_t kGpuReadSlack = 256;
inline constexpr uint64_t kGpuAlignment = 16;

struct GpuLaunch {
  std::string module;
  std::string entry;
  GpuGrid grid;
  uint32_t param_bytes = 0;
  alignas(8) std::array<std::byte, kMaxGpuParamBytes> params{};
};

template <class Params>
GpuLaunch MakeGpuLaunch(std::string module, std::string entry, const GpuGrid& grid, const Params& params) {
  static_assert(sizeof(Params) <= kMaxGpuParamBytes && sizeof(Params) % 4 == 0);
  GpuLaunch launch{std::move(module), std::move(entry), grid, sizeof(Params), {}};
  std::memcpy(launch.params.data(), &params, sizeof(Params));
  return launch;
}

}  // namespace candor
