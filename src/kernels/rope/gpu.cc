#include "kernels/rope/gpu.h"

namespace candor {

GpuLaunch GpuRope(const RopeGpuParams& params, uint32_t rows, RopePairing pairing) {
  const char* entry = pairing == RopePairing::kHalf ? "rope_half" : "rope_adjacent";
  return MakeGpuLaunch("rope", entry, ElementGrid(params.heads * (params.n_rot / 2), rows), params);
}

}  // namespace candor
