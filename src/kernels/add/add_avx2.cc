#include "kernels/add/add-inl.h"
#include "kernels/add/add_isa.h"

namespace candor {

const AddKernel kAddAvx2 = &HWY_NAMESPACE::Add;

}  // namespace candor
