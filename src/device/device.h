// Devices: what a model can run on, how one is named on a command line, and how one is chosen. The device asked for is
// the device used, or an error; `auto` never picks a software adapter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/gpu_identity.h"

namespace candor {

enum class DeviceKind { kCpu, kVulkan, kCuda };
std::string_view DeviceKindName(DeviceKind kind);  // "cpu", "vulkan", "cuda"

// What a probe in a process of its own found when it used the device (src/probe).
struct ProbeVerdict {
  enum class State { kNotProbed, kPassed, kFailed, kCrashed, kHung };
  State state = State::kNotProbed;
  std::string phase;    // where it ended, when it did not pass: "device", "allocate", …
  std::string message;  // one sentence, when it did not pass
  bool cached = false;  // found earlier, and kept
};
std::string_view VerdictName(ProbeVerdict::State state);  // "not probed", "passed", "failed", "crashed", "hung"

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  std::string name;           // "AMD EPYC 7B13"
  uint64_t memory_total = 0;  // bytes
  uint64_t memory_available = 0;
  std::vector<std::string> features;  // "avx2", "f16c", …
  bool software = false;              // a GPU API on the CPU
  std::string software_reason;        // how that is known
  GpuIdentity gpu;                    // empty for the CPU
  ProbeVerdict verdict;               // the CPU's is kPassed
};
// "cpu", "vulkan:0", "cuda:1".
std::string DeviceId(const DeviceInfo& info);

// "auto", "cpu", "vulkan[:N|uuid|name]", "cuda[:N]".
struct DeviceSelector {
  bool automatic = true;
  DeviceKind kind = DeviceKind::kCpu;
  std::string detail;
};
Result<DeviceSelector> ParseDeviceSelector(std::string_view text);  // InvalidArgument lists the forms

// Everything that was found, and why a kind is absent. An absent kind has a sentence that says what to do.
struct DeviceInventory {
  struct Absence {
    DeviceKind kind = DeviceKind::kCpu;
    std::string reason;
  };
  std::vector<DeviceInfo> devices;
  std::vector<Absence> absent;
};

std::vector<DeviceInfo> ListCpuDevices();

struct ChosenDevice {
  DeviceInfo info;
  std::string reason;  // why `auto` chose it; empty when it was named
};

// The kinds of device that the engine of this build has kernels for: the CPU, and with CANDOR_GPU=ON the GPU APIs.
std::vector<DeviceKind> EngineKinds();

struct ChoicePolicy {
  bool allow_software_adapter = false;
  std::vector<DeviceKind> runnable = EngineKinds();
};

// One device of the inventory, or Unavailable with what exists. A number is an index; else the whole UUID or name, or a
// part of one name, in any case of letters: what fits several is refused with their list. A device that did not pass
// its probe, a software adapter without permission and a kind that the engine has no kernels for are refused, each with
// its reason. Automatic: the best hardware that passed, CUDA before Vulkan, else the CPU with the reason of each that
// was passed over.
Result<ChosenDevice> ChooseDevice(const DeviceSelector& selector, const DeviceInventory& inventory,
                                  const ChoicePolicy& policy);

// The same for a caller without a probe: among what needs no driver, which is the CPU. A GPU is Unavailable, and never
// replaced; `auto` is the CPU.
Result<ChosenDevice> ChooseDevice(const DeviceSelector& selector, bool allow_software_adapter);

}  // namespace candor
