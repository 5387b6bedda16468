// The gated_activation kernels of each ISA, as CpuGatedActivation picks them.
#pragma once

#include "kernels/gated_activation/gated_activation.h"

namespace candor {

extern const GatedActivationKernel kGatedActivationScalar;
extern const GatedActivationKernel kGatedActivationAvx2;
extern const GatedActivationKernel kGatedActivationAvx512;

}  // namespace candor
