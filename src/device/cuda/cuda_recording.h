// CudaRecording: stages captured into one graph, with an event before and behind each launch of it.
#pragma once

#include <memory>
#include <span>

#include "device/cuda/cuda_capture.h"

namespace candor {

class CudaRecording : public GpuRecording {
 public:
  // `kernels` by GpuKernelId.
  static Result<std::unique_ptr<CudaRecording>> Make(CudaContext& context, std::span<const CudaKernel> kernels,
                                                     std::span<const GpuStage> stages);
  ~CudaRecording() override;

  Result<double> Run() override;
  uint32_t dispatches() const override { return dispatches_; }

 private:
  CudaRecording(CudaContext& context, uint32_t dispatches) : context_(context), dispatches_(dispatches) {}
  Status MakeExecutable(CudaGraph graph);

  CudaContext& context_;
  uint32_t dispatches_;
  CudaGraphExec executable_ = nullptr;
  CudaEvent started_ = nullptr;
  CudaEvent finished_ = nullptr;
};

}  // namespace candor
