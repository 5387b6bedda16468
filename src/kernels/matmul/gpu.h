// Launches of matmul on a GPU. Weights lie in device memory as in the file.
#pragma once

#include "base/status.h"
#include "kernels/lib/gpu_launch.h"
#include "kernels/matmul/gpu_params.h"
#include "tensor/dtype.h"

namespace candor {

// Up to this many rows each row's numbers do not depend on how many there are (the decode kernels); more rows use
// tiles.
inline constexpr uint32_t kMaxGemvRows = 16;

// Fills rows to y_stride and tail of a matmul's parameters from its shape; addresses and tail are the caller's.
MatMulGpuParams GpuMatMulShape(DType dtype, uint32_t rows, uint32_t n, uint32_t k);

// y = tail(x w^T) with f32 activations. Unimplemented, naming the type, when there is no kernel for it.
Result<GpuLaunch> GpuMatMul(DType dtype, MatMulGpuParams params, const GpuShape& shape);
// The same with int8 activations that GpuQuantizeRows made.
Result<GpuLaunch> GpuInt8MatMul(DType dtype, MatMulGpuParams params, const GpuShape& shape);

// One row through up to three matrices that share it, norm and quantisation included: the numbers of the launches it
// stands for. Sets lanes_and_passes. Only where GpuDecodeSupported.
bool GpuDecodeSupported(DType dtype, uint32_t k);
GpuLaunch GpuDecodeProducts(DType dtype, DecodeGpuParams params, const GpuShape& shape);
// Gate and up of a gated unit, and its activation.
GpuLaunch GpuDecodeGated(DType dtype, DecodeGpuParams params, const GpuShape& shape);

GpuLaunch GpuQuantizeRows(const QuantizeRowsGpuParams& params);

}  // namespace candor
