// Launch of embedding on a GPU. The table lies in device memory as in the file.
#pragma once

#include "base/status.h"
#include "kernels/embedding/gpu_params.h"
#include "kernels/lib/gpu_launch.h"
#include "tensor/dtype.h"

namespace candor {

// Unimplemented, naming the type, when there is no kernel for it.
Result<GpuLaunch> GpuEmbedding(DType dtype, const EmbeddingGpuParams& params, uint32_t rows);

}  // namespace candor
