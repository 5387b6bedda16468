#include "kernels/rms_norm/rms_norm.h"

#include "kernels/lib/select_isa.h"
#include "kernels/rms_norm/rms_norm_isa.h"

namespace candor {

RmsNormKernel CpuRmsNorm(CpuIsa isa) { return SelectIsa(isa, kRmsNormScalar, kRmsNormAvx2, kRmsNormAvx512); }

}  // namespace candor
