#define HWY_COMPILE_ONLY_SCALAR
#include "kernels/gated_activation/gated_activation-inl.h"
#include "kernels/gated_activation/gated_activation_isa.h"

namespace candor {

const GatedActivationKernel kGatedActivationScalar = &HWY_NAMESPACE::GatedActivation;

}  // namespace candor
