// Picks one ISA's kernel.
#pragma once

#include "platform/cpu_features.h"

namespace candor {

template <typename Kernel>
const Kernel& SelectIsa(CpuIsa isa, const Kernel& scalar, const Kernel& avx2, const Kernel& avx512) {
  switch (isa) {
    case CpuIsa::kScalar:
      break;
    case CpuIsa::kAvx2:
      return avx2;
    case CpuIsa::kAvx512:
      return avx512;
  }
  return scalar;
}

}  // namespace candor
