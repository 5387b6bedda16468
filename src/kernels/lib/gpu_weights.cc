#include "kernels/lib/gpu_weights.h"

#include <algorithm>
#include <cctype>

namespace candor {

bool GpuCodedTypeSupported(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
    case DType::kQ4_1:
    case DType::kQ5_0:
    case DType::kQ5_1:
    case DType::kQ8_0:
    case DType::kQ4_K:
    case DType::kQ5_K:
    case DType::kQ6_K:
      return true;
    default:
      return false;
  }
}

bool GpuWeightTypeSupported(DType dtype) {
  return GpuCodedTypeSupported(dtype) || dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

std::string GpuWeightTypeName(DType dtype) {
  std::string name(DTypeName(dtype));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

Status GpuWeightTypeError(const char* kernel, DType dtype) {
  return UnimplementedError(
      "{} on a GPU: expected one of the types F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, got {}; "
      "run on the CPU or convert the model",
      kernel, DTypeName(dtype));
}

}  // namespace candor
