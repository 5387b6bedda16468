#define HWY_COMPILE_ONLY_SCALAR
#include "kernels/rms_norm/rms_norm-inl.h"
#include "kernels/rms_norm/rms_norm_isa.h"

namespace candor {

const RmsNormKernel kRmsNormScalar = &HWY_NAMESPACE::RmsNorm;

}  // namespace candor
