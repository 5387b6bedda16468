#include "kernels/rope/rope-inl.h"
#include "kernels/rope/rope_isa.h"
#include "kernels/rope/rope_table.h"

namespace candor {

const RopeKernels kRopeAvx512 = {&RopeTable, &HWY_NAMESPACE::Rotate};

}  // namespace candor
