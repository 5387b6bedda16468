#include "kernels/gated_activation/gated_activation.h"

#include "kernels/gated_activation/gated_activation_isa.h"
#include "kernels/lib/select_isa.h"

namespace candor {

GatedActivationKernel CpuGatedActivation(CpuIsa isa) {
  return SelectIsa(isa, kGatedActivationScalar, kGatedActivationAvx2, kGatedActivationAvx512);
}

}  // namespace candor
