#include "kernels/add/add.h"

#include "kernels/add/add_isa.h"
#include "kernels/lib/select_isa.h"

namespace candor {

AddKernel CpuAdd(CpuIsa isa) { return SelectIsa(isa, kAddScalar, kAddAvx2, kAddAvx512); }

}  // namespace candor
