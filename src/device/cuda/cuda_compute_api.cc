#include "device/cuda/cuda_compute_api.h"

namespace candor {

Result<CudaComputeApi> CudaComputeApi::Load(const DynamicLibrary& library, int version) {
  CudaComputeApi api;
#define CANDOR_CUDA_LOAD(member, symbol, parameters)                                                                \
  api.member = reinterpret_cast<CudaResult(*) parameters>(library.Symbol(symbol));                                  \
  if (api.member == nullptr) {                                                                                      \
    return UnavailableError("{}: expected the function {} of CUDA 11.4 or newer, got none; install a newer driver", \
                            library.path(), symbol);                                                                \
  }
  CANDOR_CUDA_COMPUTE_FUNCTIONS(CANDOR_CUDA_LOAD)
#undef CANDOR_CUDA_LOAD
  constexpr int kEarlyStart = 12040;
  if (version >= kEarlyStart) {
    api.launch_configured = reinterpret_cast<CudaResult (*)(const CudaLaunchConfig*, CudaFunction, void**, void**)>(
        library.Symbol("cuLaunchKernelEx"));
  }
  return api;
}

}  // namespace candor
