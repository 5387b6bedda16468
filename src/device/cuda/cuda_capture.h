// The capture of stages into a graph: what a stage has more than one of runs side by side, and stages follow each
// other.
#pragma once

#include <span>

#include "device/cuda/cuda_context.h"

namespace candor {

struct CudaKernel {
  CudaFunction function = nullptr;
  uint32_t threads = 0;  // of a workgroup, all in x
  GpuStart start = GpuStart::kWhenAllIsDone;
};

// Our own bug, when a copy reaches beyond a buffer.
void CheckCopy(const GpuCopy& copy);
// Submits one copy to a stream, without waiting for it.
CudaResult CopyAsync(const CudaContext& context, const GpuCopy& copy, CudaStream stream);

// `kernels` by GpuKernelId. The caller owns the graph. The context is current.
Result<CudaGraph> CaptureGraph(const CudaContext& context, std::span<const CudaKernel> kernels,
                               std::span<const GpuStage> stages);

}  // namespace candor
