// The weight types that GPU kernels read (lib/weights.slang).
#pragma once

#include <string>

#include "base/status.h"
#include "tensor/dtype.h"

namespace candor {

bool GpuWeightTypeSupported(DType dtype);
bool GpuCodedTypeSupported(DType dtype);     // quantised ones, which int8 activations can be multiplied with
std::string GpuWeightTypeName(DType dtype);  // "q4_k": as in the names of modules and entry points
Status GpuWeightTypeError(const char* kernel, DType dtype);  // Unimplemented: names the types that exist

}  // namespace candor
