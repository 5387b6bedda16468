#include "kernels/attention/attention.h"

#include "kernels/attention/attention_isa.h"
#include "kernels/lib/select_isa.h"

namespace candor {

const AttentionKernels& CpuAttention(CpuIsa isa) {
  return SelectIsa(isa, kAttentionScalar, kAttentionAvx2, kAttentionAvx512);
}

}  // namespace candor
