// Launch of select_rows on a GPU. `rows` is the number of selected rows.
#pragma once

#include "kernels/lib/gpu_launch.h"
#include "kernels/select_rows/gpu_params.h"

namespace candor {

GpuLaunch GpuSelectRows(const SelectRowsGpuParams& params, uint32_t rows);

}  // namespace candor
