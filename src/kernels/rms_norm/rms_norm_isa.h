// The rms_norm kernels of each ISA, as CpuRmsNorm picks them.
#pragma once

#include "kernels/rms_norm/rms_norm.h"

namespace candor {

extern const RmsNormKernel kRmsNormScalar;
extern const RmsNormKernel kRmsNormAvx2;
extern const RmsNormKernel kRmsNormAvx512;

}  // namespace candor
