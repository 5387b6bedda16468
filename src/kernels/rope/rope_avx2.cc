#include "kernels/rope/rope-inl.h"
#include "kernels/rope/rope_isa.h"
#include "kernels/rope/rope_table.h"

namespace candor {

const RopeKernels kRopeAvx2 = {&RopeTable, &HWY_NAMESPACE::Rotate};

}  // namespace candor
