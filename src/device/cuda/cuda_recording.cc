#include "device/cuda/cuda_recording.h"

namespace candor {
namespace {

uint32_t CountDispatches(std::span<const GpuStage> stages) {
  uint32_t count = 0;
  for (const GpuStage& stage : stages) {
    for (const GpuCommand& command : stage) count += std::holds_alternative<GpuDispatch>(command) ? 1 : 0;
  }
  return count;
}

}  // namespace

Result<std::unique_ptr<CudaRecording>> CudaRecording::Make(CudaContext& context, std::span<const CudaKernel> kernels,
                                                           std::span<const GpuStage> stages) {
  CANDOR_RETURN_IF_ERROR(context.Enter());
  std::unique_ptr<CudaRecording> recording(new CudaRecording(context, CountDispatches(stages)));
  for (CudaEvent* event : {&recording->started_, &recording->finished_}) {
    CANDOR_RETURN_IF_CUDA_ERROR(context.api(), "cuEventCreate", context.compute().event_create(event, kCudaEventTimed));
  }
  CANDOR_ASSIGN_OR_RETURN(const CudaGraph graph, CaptureGraph(context, kernels, stages));
  const Status made = recording->MakeExecutable(graph);
  context.compute().graph_destroy(graph);
  CANDOR_RETURN_IF_ERROR(made);
  return recording;
}

CudaRecording::~CudaRecording() {
  if (!context_.EnterToFree()) return;
  if (executable_ != nullptr) context_.compute().graph_exec_destroy(executable_);
  if (started_ != nullptr) context_.compute().event_destroy(started_);
  if (finished_ != nullptr) context_.compute().event_destroy(finished_);
}

Status CudaRecording::MakeExecutable(CudaGraph graph) {
  const CudaComputeApi& compute = context_.compute();
  CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuGraphInstantiate", compute.graph_instantiate(&executable_, graph, 0));
  // What the graph needs of the device's memory is then taken here, and not in the first run.
  CANDOR_RETURN_IF_CUDA_ERROR(context_.api(), "cuGraphUpload", compute.graph_upload(executable_, context_.stream()));
  return OkStatus();
}

Result<double> CudaRecording::Run() {
  CANDOR_RETURN_IF_ERROR(context_.Enter());
  const CudaComputeApi& compute = context_.compute();
  const CudaStream stream = context_.stream();
  CANDOR_RETURN_IF_ERROR(context_.CheckSubmission("cuEventRecord", compute.event_record(started_, stream)));
  CANDOR_RETURN_IF_ERROR(context_.CheckSubmission("cuGraphLaunch", compute.graph_launch(executable_, stream)));
  CANDOR_RETURN_IF_ERROR(context_.CheckSubmission("cuEventRecord", compute.event_record(finished_, stream)));
  CANDOR_RETURN_IF_ERROR(context_.Wait());
  float milliseconds = 0;
  CANDOR_RETURN_IF_ERROR(
      context_.CheckSubmission("cuEventElapsedTime", compute.event_elapsed(&milliseconds, started_, finished_)));
  return double{milliseconds};
}

}  // namespace candor
