#define HWY_COMPILE_ONLY_SCALAR
#include "kernels/lib/vector_math_arrays-inl.h"

namespace candor {

const VectorMath kVectorMathScalar = HWY_NAMESPACE::kArrays;

}  // namespace candor
