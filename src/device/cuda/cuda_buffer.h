// CudaBuffer: memory of the device, or of the host, page-locked and mapped into the device's addresses.
#pragma once

#include <memory>
#include <string_view>

#include "device/cuda/cuda_context.h"

namespace candor {

class CudaBuffer : public GpuBuffer {
 public:
  // ResourceExhausted with the bytes asked for and what is free.
  static Result<std::unique_ptr<CudaBuffer>> Make(const CudaContext& context, uint64_t bytes, GpuMemoryKind kind,
                                                  std::string_view what);
  ~CudaBuffer() override;

 private:
  CudaBuffer(const CudaContext& context, CudaAddress address, std::byte* host, uint64_t bytes)
      : GpuBuffer(address, host, bytes), context_(context) {}

  const CudaContext& context_;
};

}  // namespace candor
