#include "kernels/rms_norm/rms_norm-inl.h"
#include "kernels/rms_norm/rms_norm_isa.h"

namespace candor {

const RmsNormKernel kRmsNormAvx2 = &HWY_NAMESPACE::RmsNorm;

}  // namespace candor
