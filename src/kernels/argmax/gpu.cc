#include "kernels/argmax/gpu.h"

#include <algorithm>

namespace candor {

uint32_t GpuArgmaxSplits(uint32_t width) { return std::clamp(DivideUp(width, 4096), 1u, 64u); }

GpuLaunch GpuArgmaxParts(const ArgmaxGpuParams& params, uint32_t rows) {
  return MakeGpuLaunch("argmax", "argmax_parts", {params.splits, rows, 1}, params);
}

GpuLaunch GpuArgmaxRows(const ArgmaxGpuParams& params, uint32_t rows) {
  return MakeGpuLaunch("argmax", "argmax_rows", {1, rows, 1}, params);
}

}  // namespace candor
