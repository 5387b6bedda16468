#include "device/cuda/cuda_compute_api.h"

namespace candor {

Result<CudaComputeApi> CudaComputeApi::Load(const DynamicLibrary& library) {
  CudaComputeApi api;
#define CANDOR_CUDA_LOAD(member, symbol, parameters)                                                                \
  api.member = reinterpret_cast<CudaResult(*) parameters>(library.Symbol(symbol));                                  \
  if (api.member == nullptr) {                                                                                      \
    return UnavailableError("{}: expected the function {} of CUDA 11.4 or newer, got none; install a newer driver", \
                            library.path(), symbol);                                                                \
  }
  CANDOR_CUDA_COMPUTE_FUNCTIONS(CANDOR_CUDA_LOAD)
#undef CANDOR_CUDA_LOAD
  return api;
}

}  // namespace candor
