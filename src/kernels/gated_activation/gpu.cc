#include "kernels/gated_activation/gpu.h"

namespace candor {

namespace {

const char* EntryOf(Activation activation) {
  switch (activation) {
    case Activation::kSilu:
      return "gated_silu";
    case Activation::kGeluTanh:
      return "gated_gelu_tanh";
    case Activation::kGelu:
      return "gated_gelu";
  }
  return "";
}

}  // namespace

GpuLaunch GpuGatedActivation(const GatedActivationGpuParams& params, uint32_t rows, Activation activation) {
  return MakeGpuLaunch("gated_activation", EntryOf(activation), ElementGrid(params.width, rows), params);
}

}  // namespace candor
