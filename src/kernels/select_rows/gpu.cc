#include "kernels/select_rows/gpu.h"

namespace candor {

GpuLaunch GpuSelectRows(const SelectRowsGpuParams& params, uint32_t rows) {
  return MakeGpuLaunch("select_rows", "select_rows", ElementGrid(params.width, rows), params);
}

}  // namespace candor
