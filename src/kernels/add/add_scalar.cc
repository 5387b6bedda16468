#define HWY_COMPILE_ONLY_SCALAR
#include "kernels/add/add-inl.h"
#include "kernels/add/add_isa.h"

namespace candor {

const AddKernel kAddScalar = &HWY_NAMESPACE::Add;

}  // namespace candor
