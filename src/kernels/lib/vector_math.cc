#include "kernels/lib/vector_math.h"

#include "kernels/lib/select_isa.h"

namespace candor {

const VectorMath& CpuVectorMath(CpuIsa isa) {
  return SelectIsa(isa, kVectorMathScalar, kVectorMathAvx2, kVectorMathAvx512);
}

}  // namespace candor
