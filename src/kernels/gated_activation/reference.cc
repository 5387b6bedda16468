#include <cmath>

#include "kernels/gated_activation/gated_activation.h"

namespace candor {

double ReferenceActivation(Activation activation, double x) {
  switch (activation) {
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kGeluTanh: {
      // 0.5 (1 + tanh u) = 1 / (1 + e^-2u); the first form has no correct digit left in double below x = -6.
      const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
      return x / (1.0 + std::exp(-2.0 * u));
    }
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / M_SQRT2);
  }
  return x;
}

}  // namespace candor
