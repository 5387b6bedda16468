#include "device/cuda/cuda_capture.h"

#include <algorithm>

#include "base/check.h"

namespace candor {
namespace {

bool Fits(const GpuPlace& place, uint64_t bytes) {
  return place.buffer != nullptr && bytes <= place.buffer->bytes() && place.offset <= place.buffer->bytes() - bytes;
}

// Before the capture begins, which must not be left half-way.
void CheckCommands(std::span<const CudaKernel> kernels, std::span<const GpuStage> stages) {
  for (const GpuStage& stage : stages) {
    for (const GpuCommand& command : stage) {
      if (const auto* dispatch = std::get_if<GpuDispatch>(&command)) {
        CANDOR_CHECK(dispatch->kernel < kernels.size(), "a dispatch of a kernel that was not loaded");
        CANDOR_CHECK(dispatch->parameter_bytes <= kMaxGpuParameterBytes, "parameters of a dispatch");
      } else {
        CheckCopy(std::get<GpuCopy>(command));
      }
    }
  }
}

// Adds stages to the capture of the main stream.
class Capture {
 public:
  Capture(const CudaContext& context, std::span<const CudaKernel> kernels)
      : context_(context), compute_(context.compute()), kernels_(kernels) {}

  Status Add(std::span<const GpuStage> stages) {
    for (const GpuStage& stage : stages) {
      // One kernel behind one kernel may start early.
      const bool alone = stage.size() == 1 && std::holds_alternative<GpuDispatch>(stage.front());
      early_ = early_ && alone;
      CANDOR_RETURN_IF_ERROR(AddStage(stage));
      early_ = alone;
    }
    return OkStatus();
  }

 private:
  using Lanes = std::span<const CudaContext::Lane>;

  // The first command of a stage is on the main stream, the others take turns on it and the lanes.
  Status AddStage(const GpuStage& stage) const {
    if (stage.empty()) return OkStatus();
    const Lanes lanes = context_.lanes().first(std::min(stage.size() - 1, context_.lanes().size()));
    CANDOR_RETURN_IF_ERROR(Fork(lanes));
    for (size_t i = 0; i < stage.size(); ++i) {
      const size_t turn = i % (lanes.size() + 1);
      CANDOR_RETURN_IF_ERROR(AddCommand(stage[i], turn == 0 ? context_.stream() : lanes[turn - 1].stream));
    }
    return Join(lanes);
  }

  Status Fork(Lanes lanes) const {
    if (lanes.empty()) return OkStatus();
    CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuEventRecord",
                                compute_.event_record(context_.fork(), context_.stream()));
    for (const CudaContext::Lane& lane : lanes) {
      CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuStreamWaitEvent",
                                  compute_.stream_wait_event(lane.stream, context_.fork(), 0));
    }
    return OkStatus();
  }

  Status Join(Lanes lanes) const {
    for (const CudaContext::Lane& lane : lanes) {
      CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuEventRecord", compute_.event_record(lane.done, lane.stream));
      CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuStreamWaitEvent",
                                  compute_.stream_wait_event(context_.stream(), lane.done, 0));
    }
    return OkStatus();
  }

  Status AddCommand(const GpuCommand& command, CudaStream stream) const {
    if (const auto* dispatch = std::get_if<GpuDispatch>(&command)) return Launch(*dispatch, stream);
    CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuMemcpyAsync",
                                CopyAsync(context_, std::get<GpuCopy>(command), stream));
    return OkStatus();
  }

  Status Launch(const GpuDispatch& dispatch, CudaStream stream) const {
    const auto [x, y, z] = dispatch.grid;
    if (x == 0 || y == 0 || z == 0) return OkStatus();  // CUDA takes no empty grid
    const CudaKernel& kernel = kernels_[dispatch.kernel];
    auto parameters = dispatch.parameters;
    void* arguments[] = {parameters.data()};  // the kernel's one argument, a struct by value; the driver copies it
    if (early_ && dispatch.may_start_early && kernel.start == GpuStart::kEarly &&
        compute_.launch_configured != nullptr) {
      CudaLaunchAttribute early;
      early.value.allowed = 1;
      const CudaLaunchConfig config{{x, y, z}, {kernel.threads, 1, 1}, 0, stream, &early, 1};
      CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuLaunchKernelEx",
                                  compute_.launch_configured(&config, kernel.function, arguments, nullptr));
      return OkStatus();
    }
    CANDOR_RETURN_IF_CUDA_ERROR(
        context_.api(), "cuLaunchKernel",
        compute_.launch(kernel.function, x, y, z, kernel.threads, 1, 1, 0, stream, arguments, nullptr));
    return OkStatus();
  }

  const CudaContext& context_;
  const CudaComputeApi& compute_;
  std::span<const CudaKernel> kernels_;
  bool early_ = false;
};

}  // namespace

void CheckCopy(const GpuCopy& copy) {
  CANDOR_CHECK(Fits(copy.from, copy.bytes) && Fits(copy.to, copy.bytes), "a copy beyond the end of its buffer");
}

CudaResult CopyAsync(const CudaContext& context, const GpuCopy& copy, CudaStream stream) {
  if (copy.bytes == 0) return kCudaSuccess;
  return context.compute().copy_async(copy.to.buffer->address() + copy.to.offset,
                                      copy.from.buffer->address() + copy.from.offset, copy.bytes, stream);
}

Result<CudaGraph> CaptureGraph(const CudaContext& context, std::span<const CudaKernel> kernels,
                               std::span<const GpuStage> stages) {
  CheckCommands(kernels, stages);
  const CudaComputeApi& compute = context.compute();
  // Relaxed, since the driver may load a kernel at its first launch, which the other modes forbid.
  CANDOR_RETURN_IF_CUDA_ERROR(context.api(), "cuStreamBeginCapture",
                              compute.capture_begin(context.stream(), kCudaCaptureRelaxed));
  const Status added = Capture(context, kernels).Add(stages);
  // Also after a failure: a stream that is left capturing would take no other work.
  CudaGraph graph = nullptr;
  const CudaResult ended = compute.capture_end(context.stream(), &graph);
  if (!added.ok() && graph != nullptr) compute.graph_destroy(graph);
  CANDOR_RETURN_IF_ERROR(added);
  CANDOR_RETURN_IF_CUDA_ERROR(context.api(), "cuStreamEndCapture", ended);
  return graph;
}

}  // namespace candor
