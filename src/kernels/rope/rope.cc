#include "kernels/rope/rope.h"

#include "kernels/lib/select_isa.h"
#include "kernels/rope/rope_isa.h"

namespace candor {

const RopeKernels& CpuRope(CpuIsa isa) { return SelectIsa(isa, kRopeScalar, kRopeAvx2, kRopeAvx512); }

}  // namespace candor
