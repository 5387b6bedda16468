#include "kernels/embedding/gpu.h"

#include "kernels/lib/gpu_weights.h"

namespace candor {

Result<GpuLaunch> GpuEmbedding(DType dtype, const EmbeddingGpuParams& params, uint32_t rows) {
  if (!GpuWeightTypeSupported(dtype)) return GpuWeightTypeError("embedding", dtype);
  const GpuGrid grid{DivideUp(params.width, 32 * kElementThreads), rows, 1};
  return MakeGpuLaunch("embedding", "embedding_" + GpuWeightTypeName(dtype), grid, params);
}

}  // namespace candor
