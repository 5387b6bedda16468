#include "device/cuda/cuda_buffer.h"

#include <algorithm>

#include "base/printable.h"
#include "platform/memory.h"

namespace candor {
namespace {

struct Memory {
  CudaAddress address = 0;
  std::byte* host = nullptr;
};

Result<Memory> TakeHost(const CudaContext& context, uint64_t bytes) {
  const CudaComputeApi& compute = context.compute();
  Memory memory;
  void* host = nullptr;
  CANDOR_RETURN_IF_CUDA_ERROR(context.api(), "cuMemHostAlloc",
                              compute.host_allocate(&host, bytes, kCudaHostPortable | kCudaHostDeviceMap));
  memory.host = static_cast<std::byte*>(host);
  const CudaResult mapped = compute.host_address(&memory.address, host, 0);
  if (mapped == kCudaSuccess) return memory;
  compute.host_free(host);
  return context.api().Error("cuMemHostGetDevicePointer", mapped);
}

Result<Memory> Take(const CudaContext& context, uint64_t bytes, GpuMemoryKind kind) {
  CANDOR_RETURN_IF_ERROR(context.Enter());
  if (kind == GpuMemoryKind::kHost) return TakeHost(context, bytes);
  Memory memory;
  CANDOR_RETURN_IF_CUDA_ERROR(context.api(), "cuMemAlloc", context.api().memory_allocate(&memory.address, bytes));
  return memory;
}

std::string FreeText(const CudaContext& context, GpuMemoryKind kind) {
  if (kind == GpuMemoryKind::kHost) return FormatBytes(ReadMemoryInfo().available);
  const Result<uint64_t> free = context.FreeMemory();
  return free.ok() ? FormatBytes(*free) : "an unknown amount";
}

}  // namespace

Result<std::unique_ptr<CudaBuffer>> CudaBuffer::Make(const CudaContext& context, uint64_t bytes, GpuMemoryKind kind,
                                                     std::string_view what) {
  bytes = (std::max<uint64_t>(bytes, 4) + 3) / 4 * 4;
  const Result<Memory> memory = Take(context, bytes, kind);
  if (memory.status().code() == StatusCode::kResourceExhausted) {
    return ResourceExhaustedError("{}: expected {} of {} memory for {}, got {} ({} free)", DeviceId(context.info()),
                                  FormatBytes(bytes), kind == GpuMemoryKind::kDevice ? "device" : "host", what,
                                  memory.status().message(), FreeText(context, kind));
  }
  CANDOR_RETURN_IF_ERROR(memory.status());
  return std::unique_ptr<CudaBuffer>(new CudaBuffer(context, memory->address, memory->host, bytes));
}

CudaBuffer::~CudaBuffer() {
  if (!context_.EnterToFree()) return;
  if (host() != nullptr) {
    context_.compute().host_free(host());
  } else {
    context_.api().memory_free(address());
  }
}

}  // namespace candor
