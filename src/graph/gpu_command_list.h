// GpuCommandList: the steps of a plan as commands of a GPU, for a given number of rows. Commands of a stage may
// overlap; stages run one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/cpu_executable.h"
#include "graph/gpu_fusion.h"
#include "graph/gpu_step_inputs.h"
#include "graph/plan.h"
#include "kernels/lib/epilogue_params.h"
#include "kernels/lib/gpu_program.h"

namespace candor {

// A model's bytes in device memory. Addresses as kernels see them.
struct GpuModelBinding {
  std::vector<DeviceAddress> weights;  // by WeightId: a matrix as in the file, a vector as f32
  std::vector<KvBinding> kv;           // by layer of the graph
  int32_t kv_groups = 0;
  DType kv_type = DType::kF16;
  int64_t context = 0;            // tokens of a sequence at most
  bool int8_activations = false;  // what meets quantised weights becomes int8
};

// What a step works with, in device memory.
struct GpuStepMemory {
  DeviceAddress values = 0;  // Plan::float_offset counts from here
  DeviceAddress inputs = 0;  // GpuStepLayout's offsets count from here
  DeviceAddress codes = 0;   // int8 rows of the products that come next
  DeviceAddress scales = 0;
  DeviceAddress attention_parts = 0;
  std::vector<DeviceAddress> rope_table;  // by ValueId of the rope_table op; 0 for other values
};

// Bytes of the last three of them.
struct GpuExtraBytes {
  explicit GpuExtraBytes(const Plan& plan);
  uint64_t codes = 0;
  uint64_t scales = 0;
  uint64_t attention_parts = 0;
};

// How many ops ran by which kernel; the report is made of it.
struct GpuKernelUse {
  std::string op;      // "matmul"
  std::string kernel;  // "decode_q4_k/decode_products"
  int64_t launches = 0;
};

// Steps as commands, and what they are.
struct GpuCommands {
  std::vector<GpuStage> stages;
  std::vector<std::string> kernels;  // by stage: "decode_q4_k/decode_products", joined by " + " where it has several
  std::vector<GpuKernelUse> uses;
};

class GpuCommandList {
 public:
  // All are kept by reference.
  GpuCommandList(const Plan& plan, const GpuFusion& fusion, const GpuModelBinding& binding, const GpuStepMemory& memory,
                 GpuProgram& program)
      : plan_(plan), fusion_(fusion), binding_(binding), memory_(memory), program_(program) {}

  // Unimplemented, naming op and type or kernel, for what this device has no kernel for.
  Result<GpuCommands> Build(const GpuStepLayout& layout);

 private:
  Status AddStep(size_t step);
  Status AddRows(const FusedStep& step);
  Status AddProducts(const FusedStep& step, const FusedProducts& fused);
  Status AddDecodeProducts(const FusedStep& step, const FusedProducts& fused);
  Status AddDecodeGated(const FusedStep& step, const FusedProducts& fused);
  Status AddPlainProducts(const FusedStep& step);

  Status Emit(const EmbeddingOp& op, ValueId y);
  Status Emit(const RopeTableOp& op, ValueId y);
  Status Emit(const RmsNormOp& op, ValueId y);
  Status Emit(const MatMulOp& op, ValueId y);
  Status Emit(const RopeOp& op, ValueId y);
  Status Emit(const KvWriteOp& op, ValueId y);
  Status Emit(const AttentionOp& op, ValueId y);
  Status Emit(const GatedActivationOp& op, ValueId y);
  Status Emit(const AddOp& op, ValueId y);
  Status Emit(const SelectRowsOp& op, ValueId y);
  Status AddPrepared(const PreparedHeads& prepared);

  // The same launch in a stage of its own, or beside the last one.
  enum class Placing { kNextStage, kSameStage };
  Status Add(const char* op, const Result<GpuLaunch>& launch, Placing placing = Placing::kNextStage);

  const Value& ValueOf(ValueId id) const { return plan_.graph.values[static_cast<size_t>(id)]; }
  const Weight& WeightOf(WeightId id) const { return plan_.graph.weights[static_cast<size_t>(id)]; }
  DeviceAddress Floats(ValueId id) const;
  DeviceAddress WeightAddress(WeightId id) const { return id == kNone ? 0 : binding_.weights[static_cast<size_t>(id)]; }
  uint32_t Width(ValueId id) const { return static_cast<uint32_t>(ValueOf(id).width); }
  uint32_t Rows(ValueId id) const;
  uint32_t AllRows() const { return static_cast<uint32_t>(layout_->rows); }
  DeviceAddress Input(uint64_t offset) const { return memory_.inputs + offset; }
  DeviceAddress PageTable(int32_t group) const { return Input(layout_->page_table(group)); }
  EpilogueParams TailOf(const MatMulOp& op) const;

  const Plan& plan_;
  const GpuFusion& fusion_;
  const GpuModelBinding& binding_;
  const GpuStepMemory& memory_;
  GpuProgram& program_;
  const GpuStepLayout* layout_ = nullptr;
  bool decode_ = false;  // one row, whose products are fused
  GpuCommands commands_;
};

}  // namespace candor
