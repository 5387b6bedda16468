#include "kernels/gated_activation/gated_activation-inl.h"
#include "kernels/gated_activation/gated_activation_isa.h"

namespace candor {

const GatedActivationKernel kGatedActivationAvx512 = &HWY_NAMESPACE::GatedActivation;

}  // namespace candor
