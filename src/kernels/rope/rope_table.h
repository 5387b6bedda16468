// The cosine and sine table, the same code for every ISA: one angle costs two library calls in double, once per step
// and rotary kind.
#pragma once

#include "kernels/rope/rope.h"

namespace candor {

void RopeTable(const RopeTableParams& params, int64_t row_begin, int64_t row_end);

}  // namespace candor
