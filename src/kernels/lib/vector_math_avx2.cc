#include "kernels/lib/vector_math_arrays-inl.h"

namespace candor {

const VectorMath kVectorMathAvx2 = HWY_NAMESPACE::kArrays;

}  // namespace candor
