#include "graph/gpu_command_list.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/add/gpu.h"
#include "kernels/attention/gpu.h"
#include "kernels/embedding/gpu.h"
#include "kernels/gated_activation/gpu.h"
#include "kernels/lib/gpu_weights.h"
#include "kernels/matmul/gpu.h"
#include "kernels/rms_norm/gpu.h"
#include "kernels/rope/gpu.h"
#include "kernels/select_rows/gpu.h"

namespace candor {
namespace {

uint32_t GatedTail(Activation activation) {
  switch (activation) {
    case Activation::kSilu:
      return kTailSiluGate;
    case Activation::kGeluTanh:
      return kTailGeluTanhGate;
    case Activation::kGelu:
      return kTailGeluGate;
  }
  return kTailNone;
}

uint32_t RowBytes(const Weight& weight) {
  return static_cast<uint32_t>(BytesOf(weight.dtype, weight.cols).value_or(0));
}

}  // namespace

GpuExtraBytes::GpuExtraBytes(const Plan& plan) {
  for (const Op& op : plan.graph.ops) {
    if (const auto* matmul = std::get_if<MatMulOp>(&op.attributes)) {
      const auto k = static_cast<uint64_t>(plan.graph.weights[static_cast<size_t>(matmul->w)].cols);
      codes = std::max(codes, static_cast<uint64_t>(plan.max_rows) * ((k + 63) / 64 * 64));
    }
    if (const auto* attention = std::get_if<AttentionOp>(&op.attributes)) {
      const KvLayer& layer = plan.graph.kv_layers[static_cast<size_t>(attention->layer)];
      const uint64_t row = static_cast<uint64_t>(attention->heads) * (static_cast<uint64_t>(layer.value_dim) + 2) * 4;
      attention_parts = std::max(attention_parts, row * kMaxDecodeAttentionRows * kDecodeSplits);
    }
  }
  scales = codes / 32 * 8;
}

DeviceAddress GpuCommandList::Floats(ValueId id) const {
  const uint64_t offset = plan_.float_offset[static_cast<size_t>(id)];
  CANDOR_CHECK(offset != Plan::kUnplaced, ValueOf(id).name);
  return memory_.values + offset;
}

uint32_t GpuCommandList::Rows(ValueId id) const {
  return static_cast<uint32_t>(ValueOf(id).rows == RowSpace::kAll ? layout_->rows : layout_->logits_rows);
}

Status GpuCommandList::Add(const char* op, const Result<GpuLaunch>& launch, Placing placing) {
  CANDOR_RETURN_IF_ERROR(launch.status());
  CANDOR_ASSIGN_OR_RETURN(GpuDispatch dispatch, program_.Dispatch(*launch));
  dispatch.may_start_early = layout_->rows == 1;
  const std::string kernel = launch->module + "/" + launch->entry;
  if (placing == Placing::kNextStage) {
    commands_.stages.emplace_back();
    commands_.kernels.push_back(kernel);
  } else {
    commands_.kernels.back() += " + " + kernel;
  }
  commands_.stages.back().push_back(dispatch);
  const auto same = [&](const GpuKernelUse& use) { return use.op == op && use.kernel == kernel; };
  const auto known = std::find_if(commands_.uses.begin(), commands_.uses.end(), same);
  if (known != commands_.uses.end()) {
    ++known->launches;
  } else {
    commands_.uses.push_back({op, kernel, 1});
  }
  return OkStatus();
}

Result<GpuCommands> GpuCommandList::Build(const GpuStepLayout& layout) {
  layout_ = &layout;
  decode_ = layout.rows == 1 && binding_.int8_activations;
  commands_ = {};
  for (size_t step = 0; step < plan_.steps.size(); ++step) {
    const int64_t rows = plan_.steps[step].rows == RowSpace::kAll ? layout.rows : layout.logits_rows;
    if (rows > 0) CANDOR_RETURN_IF_ERROR(AddStep(step));
  }
  layout_ = nullptr;
  return std::move(commands_);
}

Status GpuCommandList::AddStep(size_t index) {
  const FusedStep& step = plan_.steps[index];
  switch (step.kind) {
    case StepKind::kMatMul:
      return AddProducts(step, fusion_.products[index]);
    case StepKind::kRows:
    case StepKind::kAttention:
      return AddRows(step);
  }
  return OkStatus();
}

Status GpuCommandList::AddRows(const FusedStep& step) {
  for (const int32_t index : step.ops) {
    const auto at = static_cast<size_t>(index);
    if (fusion_.in_prepared[at] || (decode_ && fusion_.in_decode_products[at])) continue;
    const Op& op = plan_.graph.ops[at];
    if (fusion_.prepared[at].kv_write != kNone) {
      CANDOR_RETURN_IF_ERROR(AddPrepared(fusion_.prepared[at]));
    } else {
      CANDOR_RETURN_IF_ERROR(std::visit([&](const auto& a) { return Emit(a, op.output); }, op.attributes));
    }
  }
  return OkStatus();
}

// ---- products

EpilogueParams GpuCommandList::TailOf(const MatMulOp& op) const {
  EpilogueParams tail{};
  tail.bias = WeightAddress(op.bias);
  tail.kind = op.bias == kNone ? kTailNone : kTailBias;
  if (op.residual != kNone) {
    tail.residual = Floats(op.residual);
    tail.residual_stride = Width(op.residual);
    tail.kind = op.bias == kNone ? kTailResidual : kTailBiasResidual;
  }
  return tail;
}

Status GpuCommandList::AddProducts(const FusedStep& step, const FusedProducts& fused) {
  const auto& first = std::get<MatMulOp>(plan_.graph.ops[static_cast<size_t>(step.ops.front())].attributes);
  const auto decodes = [&](int32_t op) {
    const auto& matmul = std::get<MatMulOp>(plan_.graph.ops[static_cast<size_t>(op)].attributes);
    return GpuDecodeSupported(WeightOf(matmul.w).dtype, Width(first.x));
  };
  if (!decode_ || Rows(first.x) != 1 || !std::all_of(step.ops.begin(), step.ops.end(), decodes))
    return AddPlainProducts(step);
  return fused.gated != kNone ? AddDecodeGated(step, fused) : AddDecodeProducts(step, fused);
}

namespace {

// One of the up to three matrices of a launch.
void SetMatrix(DecodeGpuParams& params, int slot, DeviceAddress w, DeviceAddress y, DeviceAddress bias, uint32_t n) {
  (slot == 0 ? params.w0 : slot == 1 ? params.w1 : params.w2) = w;
  (slot == 0 ? params.y0 : slot == 1 ? params.y1 : params.y2) = y;
  (slot == 0 ? params.bias0 : slot == 1 ? params.bias1 : params.bias2) = bias;
  (slot == 0 ? params.n0 : slot == 1 ? params.n1 : params.n2) = n;
}

}  // namespace

Status GpuCommandList::AddDecodeProducts(const FusedStep& step, const FusedProducts& fused) {
  Placing placing = Placing::kNextStage;
  for (size_t begin = 0; begin < step.ops.size();) {
    DecodeGpuParams params{};
    DType dtype = DType::kF32;
    int slot = 0;
    // Neighbours of one type go together; a residual is the first one's alone.
    for (; slot < 3 && begin < step.ops.size(); ++slot, ++begin) {
      const Op& op = plan_.graph.ops[static_cast<size_t>(step.ops[begin])];
      const auto& matmul = std::get<MatMulOp>(op.attributes);
      const Weight& weight = WeightOf(matmul.w);
      if (slot > 0 && (weight.dtype != dtype || matmul.residual != kNone)) break;
      dtype = weight.dtype;
      SetMatrix(params, slot, WeightAddress(matmul.w), Floats(op.output), WeightAddress(matmul.bias),
                static_cast<uint32_t>(weight.rows));
      if (slot > 0) continue;
      params.x = Floats(matmul.x);
      params.residual = matmul.residual == kNone ? 0 : Floats(matmul.residual);
      params.k = static_cast<uint32_t>(weight.cols);
      params.row_bytes = RowBytes(weight);
    }
    if (fused.norm != kNone) {
      const auto& norm = std::get<RmsNormOp>(plan_.graph.ops[static_cast<size_t>(fused.norm)].attributes);
      params.x = Floats(norm.x);
      params.norm = WeightAddress(norm.w);
      params.eps = norm.eps;
    }
    CANDOR_RETURN_IF_ERROR(Add("matmul", GpuDecodeProducts(dtype, params, program_.shape()), placing));
    placing = Placing::kSameStage;
  }
  return OkStatus();
}

Status GpuCommandList::AddDecodeGated(const FusedStep& step, const FusedProducts& fused) {
  const Op& gated_op = plan_.graph.ops[static_cast<size_t>(fused.gated)];
  const auto& gate = std::get<MatMulOp>(plan_.graph.ops[static_cast<size_t>(step.ops[0])].attributes);
  const auto& up = std::get<MatMulOp>(plan_.graph.ops[static_cast<size_t>(step.ops[1])].attributes);
  const Weight& weight = WeightOf(gate.w);
  DecodeGpuParams params{};
  params.x = Floats(gate.x);
  SetMatrix(params, 0, WeightAddress(gate.w), Floats(gated_op.output), 0, static_cast<uint32_t>(weight.rows));
  SetMatrix(params, 1, WeightAddress(up.w), 0, 0, 0);
  params.k = static_cast<uint32_t>(weight.cols);
  params.row_bytes = RowBytes(weight);
  params.activation = GatedTail(std::get<GatedActivationOp>(gated_op.attributes).activation);
  if (fused.norm != kNone) {
    const auto& norm = std::get<RmsNormOp>(plan_.graph.ops[static_cast<size_t>(fused.norm)].attributes);
    params.x = Floats(norm.x);
    params.norm = WeightAddress(norm.w);
    params.eps = norm.eps;
  }
  return Add("matmul", GpuDecodeGated(weight.dtype, params, program_.shape()));
}

Status GpuCommandList::AddPlainProducts(const FusedStep& step) {
  const auto matmul_of = [&](int32_t op) -> const MatMulOp& {
    return std::get<MatMulOp>(plan_.graph.ops[static_cast<size_t>(op)].attributes);
  };
  const ValueId x = matmul_of(step.ops.front()).x;
  const auto takes_int8 = [&](int32_t op) {
    return binding_.int8_activations && GpuCodedTypeSupported(WeightOf(matmul_of(op).w).dtype);
  };
  if (std::any_of(step.ops.begin(), step.ops.end(), takes_int8)) {
    const uint32_t k = Width(x);
    CANDOR_RETURN_IF_ERROR(Add("quantize_rows", GpuQuantizeRows({Floats(x), memory_.codes, memory_.scales, Rows(x), k,
                                                                 k, (k + 63) / 64 * 64})));
  }
  Placing placing = Placing::kNextStage;
  for (const int32_t index : step.ops) {
    const MatMulOp& op = matmul_of(index);
    const Weight& weight = WeightOf(op.w);
    MatMulGpuParams params =
        GpuMatMulShape(weight.dtype, Rows(x), static_cast<uint32_t>(weight.rows), static_cast<uint32_t>(weight.cols));
    params.w = WeightAddress(op.w);
    params.x = Floats(x);
    params.codes = memory_.codes;
    params.scales = memory_.scales;
    params.y = Floats(plan_.graph.ops[static_cast<size_t>(index)].output);
    params.tail = TailOf(op);
    CANDOR_RETURN_IF_ERROR(Add("matmul",
                               takes_int8(index) ? GpuInt8MatMul(weight.dtype, params, program_.shape())
                                                 : GpuMatMul(weight.dtype, params, program_.shape()),
                               placing));
    placing = Placing::kSameStage;
  }
  return OkStatus();
}

Status GpuCommandList::Emit(const MatMulOp&, ValueId y) {
  CANDOR_CHECK(false, ValueOf(y).name);  // products are steps of their own
}

// ---- attention

Status GpuCommandList::Emit(const AttentionOp& op, ValueId y) {
  const KvBinding& kv = binding_.kv[static_cast<size_t>(op.layer)];
  AttentionGpuParams params{};
  SetGpuKvLayout(kv.layout, params);
  params.q = Floats(op.q);
  params.y = Floats(y);
  params.parts = memory_.attention_parts;
  params.position = Input(layout_->positions);
  params.sequence = Input(layout_->sequences);
  params.page_table = PageTable(kv.group);
  params.rows = AllRows();
  params.q_stride = Width(op.q);
  params.y_stride = Width(y);
  params.table_stride = static_cast<uint32_t>(layout_->table_stride);
  params.heads = static_cast<uint32_t>(op.heads);
  params.window = static_cast<uint32_t>(plan_.graph.kv_layers[static_cast<size_t>(op.layer)].window);
  params.scale = op.scale;
  params.softcap = op.softcap;
  CANDOR_RETURN_IF_ERROR(Add("attention", GpuAttention(binding_.kv_type, params)));
  return params.splits > 1 ? Add("attention", GpuAttentionCombine(params)) : OkStatus();
}

Status GpuCommandList::AddPrepared(const PreparedHeads& prepared) {
  const auto attributes = [&](int32_t op) -> const OpAttributes& {
    return plan_.graph.ops[static_cast<size_t>(op)].attributes;
  };
  const auto& write = std::get<KvWriteOp>(attributes(prepared.kv_write));
  const KvBinding& kv = binding_.kv[static_cast<size_t>(write.layer)];
  PrepareHeadsGpuParams params{};
  SetGpuKvLayout(kv.layout, params);
  params.q = Floats(prepared.q);
  params.prepared_q = Floats(prepared.prepared_q);
  params.k = Floats(prepared.k);
  params.v = Floats(write.v);
  params.position = Input(layout_->positions);
  params.sequence = Input(layout_->sequences);
  params.page_table = PageTable(kv.group);
  params.table_stride = static_cast<uint32_t>(layout_->table_stride);
  params.heads = static_cast<uint32_t>(prepared.heads);
  const auto set_norm = [&](int32_t op, DeviceAddress& weight, float& eps) {
    if (op == kNone) return;
    weight = WeightAddress(std::get<RmsNormOp>(attributes(op)).w);
    eps = std::get<RmsNormOp>(attributes(op)).eps;
  };
  set_norm(prepared.q_norm, params.q_norm, params.q_eps);
  set_norm(prepared.k_norm, params.k_norm, params.k_eps);
  RopePairing pairing = RopePairing::kHalf;
  if (prepared.q_rope != kNone) {
    const auto& rope = std::get<RopeOp>(attributes(prepared.q_rope));
    pairing = rope.pairing;
    params.table = memory_.rope_table[static_cast<size_t>(rope.table)];
    params.n_rot = Width(rope.table);
  }
  return Add("prepare_heads", GpuPrepareHeads(binding_.kv_type, params, AllRows(), pairing));
}

Status GpuCommandList::Emit(const KvWriteOp& op, ValueId) {
  const KvBinding& kv = binding_.kv[static_cast<size_t>(op.layer)];
  KvWriteGpuParams params{};
  SetGpuKvLayout(kv.layout, params);
  params.k = Floats(op.k);
  params.v = Floats(op.v);
  params.position = Input(layout_->positions);
  params.sequence = Input(layout_->sequences);
  params.page_table = PageTable(kv.group);
  params.k_stride = Width(op.k);
  params.v_stride = Width(op.v);
  params.table_stride = static_cast<uint32_t>(layout_->table_stride);
  return Add("kv_write", GpuKvWrite(binding_.kv_type, params, AllRows()));
}

Status GpuCommandList::Emit(const RopeTableOp&, ValueId) { return OkStatus(); }  // made once for all positions

Status GpuCommandList::Emit(const RopeOp& op, ValueId y) {
  const RopeGpuParams params{Floats(y),
                             memory_.rope_table[static_cast<size_t>(op.table)],
                             Input(layout_->positions),
                             Width(y),
                             static_cast<uint32_t>(op.heads),
                             static_cast<uint32_t>(op.head_dim),
                             Width(op.table)};
  return Add("rope", GpuRope(params, Rows(y), op.pairing));
}

// ---- rows by themselves

Status GpuCommandList::Emit(const EmbeddingOp& op, ValueId y) {
  const Weight& table = WeightOf(op.table);
  const EmbeddingGpuParams params{
      WeightAddress(op.table), Input(layout_->token_ids), Floats(y), RowBytes(table), Width(y), Width(y), op.scale};
  return Add("embedding", GpuEmbedding(table.dtype, params, Rows(y)));
}

Status GpuCommandList::Emit(const RmsNormOp& op, ValueId y) {
  const auto groups = static_cast<uint32_t>(op.groups);
  const RmsNormGpuParams params{Floats(op.x), WeightAddress(op.w), Floats(y), Width(op.x),
                                Width(y),     Width(y) / groups,   op.eps};
  return Add("rms_norm", GpuRmsNorm(params, Rows(y), groups));
}

Status GpuCommandList::Emit(const GatedActivationOp& op, ValueId y) {
  const GatedActivationGpuParams params{Floats(op.gate), Floats(op.up), Floats(y), Width(op.gate),
                                        Width(op.up),    Width(y),      Width(y)};
  return Add("gated_activation", GpuGatedActivation(params, Rows(y), op.activation));
}

Status GpuCommandList::Emit(const AddOp& op, ValueId y) {
  return Add("add", GpuAdd({Floats(op.a), Floats(op.b), Floats(y), Width(y), Width(y)}, Rows(y)));
}

Status GpuCommandList::Emit(const SelectRowsOp& op, ValueId y) {
  const SelectRowsGpuParams params{
      Floats(op.x), Input(layout_->logits_index), Floats(y), Width(op.x), Width(y), Width(y), 0};
  return Add("select_rows", GpuSelectRows(params, Rows(y)));
}

}  // namespace candor
