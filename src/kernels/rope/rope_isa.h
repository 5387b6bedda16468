// The rope kernels of each ISA, as CpuRope picks them.
#pragma once

#include "kernels/rope/rope.h"

namespace candor {

extern const RopeKernels kRopeScalar;
extern const RopeKernels kRopeAvx2;
extern const RopeKernels kRopeAvx512;

}  // namespace candor
