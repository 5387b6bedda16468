#include "kernels/lib/gpu_modules.h"

#include <zstd.h>

#include <algorithm>

#include "base/check.h"

// The embedded file (tools/gpu_kernels/gpu_kernels.S).
extern "C" const std::byte candor_gpu_kernels_begin[];
extern "C" const std::byte candor_gpu_kernels_end[];

namespace candor {
namespace {

constexpr uint32_t kPtxArchitecture = 80;  // tools/gpu_kernels/build_module.py

template <class Row, class Matches>
const Row* FindRow(std::span<const Row> rows, Matches matches) {
  const auto found = std::find_if(rows.begin(), rows.end(), matches);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const GpuModule* FindGpuModule(std::string_view name) {
  return FindRow(GpuModules(), [&](const GpuModule& module) { return module.name == name; });
}

const GpuEntry* FindGpuEntry(const GpuModule& module, std::string_view name) {
  return FindRow(module.entries, [&](const GpuEntry& entry) { return entry.name == name; });
}

const GpuBinary* VulkanBinary(const GpuModule& module) {
  return FindRow(module.binaries, [](const GpuBinary& binary) { return binary.target == GpuTarget::kSpirv; });
}

const GpuBinary* CudaBinary(const GpuModule& module, uint32_t major, uint32_t minor) {
  const GpuBinary* best = nullptr;
  for (const GpuBinary& binary : module.binaries) {
    if (binary.target != GpuTarget::kCubin) continue;
    if (binary.architecture / 10 != major || binary.architecture % 10 > minor) continue;
    if (best == nullptr || binary.architecture > best->architecture) best = &binary;
  }
  if (best != nullptr || major * 10 + minor < kPtxArchitecture) return best;
  return FindRow(module.binaries, [](const GpuBinary& binary) { return binary.target == GpuTarget::kPtx; });
}

Result<std::vector<std::byte>> UnpackGpuBinary(const GpuBinary& binary) {
  const std::span<const std::byte> file(candor_gpu_kernels_begin, candor_gpu_kernels_end);
  CANDOR_CHECK(binary.offset + binary.packed_bytes <= file.size(), "GPU kernel table and file differ");
  std::vector<std::byte> bytes(binary.bytes);
  const size_t size = ZSTD_decompress(bytes.data(), bytes.size(), file.data() + binary.offset, binary.packed_bytes);
  if (ZSTD_isError(size) != 0 || size != bytes.size()) {
    return DataLossError(
        "embedded GPU kernel: expected {} bytes, got {}; the program's file is damaged, install it again", bytes.size(),
        ZSTD_isError(size) != 0 ? ZSTD_getErrorName(size) : "another number");
  }
  return bytes;
}

}  // namespace candor
