#include "device/cuda/cuda_api.h"

namespace candor {
namespace {

StatusCode CodeOf(CudaResult result) {
  switch (result) {
    case 2:  // CUDA_ERROR_OUT_OF_MEMORY
      return StatusCode::kResourceExhausted;
    case 800:  // CUDA_ERROR_NOT_PERMITTED
      return StatusCode::kPermissionDenied;
    default:
      return StatusCode::kUnavailable;
  }
}

}  // namespace

Status CudaApi::Error(std::string_view where, CudaResult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name(result, &name) != kCudaSuccess || name == nullptr) name = "an unknown CUresult";
  if (error_text(result, &text) != kCudaSuccess || text == nullptr) text = "no text";
  return Status(CodeOf(result), fmt::format("cuda {}: {} ({}): {}", where, name, result, text));
}

Result<CudaLibrary> CudaLibrary::Open(const std::string& name) {
  CudaLibrary cuda;
  CANDOR_ASSIGN_OR_RETURN(cuda.library, DynamicLibrary::Open(name));
#define CANDOR_CUDA_LOAD(member, symbol, parameters)                                                              \
  cuda.api.member = reinterpret_cast<CudaResult(*) parameters>(cuda.library.Symbol(symbol));                      \
  if (cuda.api.member == nullptr) {                                                                               \
    return UnavailableError("{}: expected the function {} of CUDA 11 or newer, got none; install a newer driver", \
                            cuda.library.path(), symbol);                                                         \
  }
  CANDOR_CUDA_FUNCTIONS(CANDOR_CUDA_LOAD)
#undef CANDOR_CUDA_LOAD
  return cuda;
}

}  // namespace candor
