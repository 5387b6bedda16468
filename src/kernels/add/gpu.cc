#include "kernels/add/gpu.h"

namespace candor {

GpuLaunch GpuAdd(const AddGpuParams& params, uint32_t rows) {
  return MakeGpuLaunch("add", "add", ElementGrid(params.width, rows), params);
}

}  // namespace candor
