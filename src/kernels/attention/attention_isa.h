// The attention kernels of each ISA, as CpuAttention picks them.
#pragma once

#include "kernels/attention/attention.h"

namespace candor {

extern const AttentionKernels kAttentionScalar;
extern const AttentionKernels kAttentionAvx2;
extern const AttentionKernels kAttentionAvx512;

}  // namespace candor
