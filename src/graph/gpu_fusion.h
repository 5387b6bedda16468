// GpuFusion: which ops of a plan one GPU launch does together. Found once; what is not found runs op by op.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/plan.h"

namespace candor {

// The norms, rotations and cache writes between the projections of a layer and its attention, as one launch
// (kernels/attention/prepare_heads.slang). Ops are indices; kNone where the family has no such op.
struct PreparedHeads {
  int32_t q_norm = kNone;
  int32_t k_norm = kNone;
  int32_t q_rope = kNone;
  int32_t k_rope = kNone;
  int32_t kv_write = kNone;
  ValueId q = kNone;  // before norm and rotation
  ValueId k = kNone;
  ValueId prepared_q = kNone;  // what attention reads
  int32_t heads = 0;
};

// For one row alone (decode): what the products of a step do besides.
struct FusedProducts {
  int32_t norm = kNone;   // the rms_norm that makes their input
  int32_t gated = kNone;  // the gated_activation of the step's two products
};

struct GpuFusion {
  explicit GpuFusion(const Plan& plan);

  std::vector<PreparedHeads> prepared;   // by op: valid at a kv_write whose heads are prepared by one launch
  std::vector<bool> in_prepared;         // by op: done by a launch of `prepared`, whatever the number of rows
  std::vector<FusedProducts> products;   // by step
  std::vector<bool> in_decode_products;  // by op: done by a launch of `products`, for one row
};

}  // namespace candor
