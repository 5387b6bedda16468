#include "kernels/rms_norm/gpu.h"

namespace candor {

GpuLaunch GpuRmsNorm(const RmsNormGpuParams& params, uint32_t rows, uint32_t groups) {
  return MakeGpuLaunch("rms_norm", "rms_norm", {groups, rows, 1}, params);
}

}  // namespace candor
