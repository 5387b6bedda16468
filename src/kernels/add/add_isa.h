// The add kernels of each ISA, as CpuAdd picks them.
#pragma once

#include "kernels/add/add.h"

namespace candor {

extern const AddKernel kAddScalar;
extern const AddKernel kAddAvx2;
extern const AddKernel kAddAvx512;

}  // namespace candor
