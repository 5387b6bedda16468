#include "kernels/attention/attention-inl.h"
#include "kernels/attention/attention_isa.h"
#include "kernels/attention/kv_write-inl.h"
#include "kernels/attention/row_blocks.h"

namespace candor {

const AttentionKernels kAttentionAvx512 = {&HWY_NAMESPACE::WriteKv, &AttentionUnits, &HWY_NAMESPACE::RunAttention};

}  // namespace candor
