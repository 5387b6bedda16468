// GpuExecutable: a plan on a GPU. For each number of rows (rounded up to a few sizes) the commands are recorded once
// and then replayed: a step is one submission.
#pragma once

#include <memory>

#include "graph/executable.h"
#include "graph/gpu_command_list.h"
#include "platform/cpu_features.h"
#include "platform/thread_pool.h"

namespace candor {

// What ran so far, counted where it was submitted; a report that claims a GPU stands on it.
struct GpuRunCounters {
  uint64_t submissions = 0;
  uint64_t dispatches = 0;
  double gpu_milliseconds = 0;      // by the GPU's own clock
  uint64_t decode_submissions = 0;  // of one row
  uint64_t decode_dispatches = 0;
};

// What the launches of one kernel take.
struct GpuLaunchTime {
  std::string kernel;  // as GpuCommands::kernels
  int64_t launches = 0;
  double microseconds = 0;  // of one, with the gap to the next; mean
};

class GpuExecutable : public Executable {
 public:
  // Times the launches of a step of one row, each kernel's over and over, with the state that the last step left; that
  // state is of no use afterwards.
  virtual Result<std::vector<GpuLaunchTime>> ProfileDecode() = 0;
  virtual const GpuRunCounters& counters() const = 0;
  virtual const std::vector<GpuKernelUse>& decode_uses() const = 0;   // of the step of one row
  virtual const std::vector<GpuKernelUse>& prefill_uses() const = 0;  // of the step of most rows that ran
  virtual uint64_t scratch_bytes() const = 0;                         // on the device
};

// Takes `plan` and `binding`; the program (and its device) must outlive it. The tables of angles are made by `isa` on
// `threads`. ResourceExhausted without room on the device; Unimplemented for a shape or type without a kernel.
Result<std::unique_ptr<GpuExecutable>> MakeGpuExecutable(Plan plan, GpuModelBinding binding, GpuProgram& program,
                                                         CpuIsa isa, ThreadPool& threads);

// Bytes that MakeGpuExecutable takes on the device, before anything is allocated.
uint64_t GpuScratchBytes(const Plan& plan, const GpuModelBinding& binding);

}  // namespace candor
