// GpuDevice: a GPU that is open for work, the same for Vulkan and CUDA. Memory, compiled kernels, and recordings:
// commands that are recorded once and replayed, one submission a run. One thread at a time for a device and everything
// made from it; the device must outlive all of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "device/device.h"

namespace candor {

enum class GpuMemoryKind {
  kDevice,  // the GPU's own memory; the host reaches it by copies
  kHost,    // the host's memory, mapped here and reached by the GPU: for staging, step inputs and results
};

// Memory that kernels reach by its address. Given back by the destructor.
class GpuBuffer {
 public:
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
  virtual ~GpuBuffer() = default;

  uint64_t address() const { return address_; }  // as a kernel sees it; a multiple of 256
  std::byte* host() const { return host_; }      // null for kDevice
  uint64_t bytes() const { return bytes_; }

 protected:
  GpuBuffer(uint64_t address, std::byte* host, uint64_t bytes) : address_(address), host_(host), bytes_(bytes) {}

 private:
  uint64_t address_;
  std::byte* host_;
  uint64_t bytes_;
};

// When a kernel may start. kEarly: before the launches before it have ended, since it waits for them by itself where it
// needs to (lib/lanes.slang); a hint that a device need not take.
enum class GpuStart { kWhenAllIsDone, kEarly };

using GpuModuleId = uint32_t;
using GpuKernelId = uint32_t;

inline constexpr uint32_t kMaxGpuParameterBytes = 128;

// Runs a kernel over grid[0] x grid[1] x grid[2] workgroups.
struct GpuDispatch {
  GpuKernelId kernel = 0;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  uint32_t parameter_bytes = 0;
  bool may_start_early =
      false;  // where its module allows it: pays for short kernels, not for those that fill the device
  alignas(8) std::array<std::byte, kMaxGpuParameterBytes> parameters{};
};

// A place in a buffer.
struct GpuPlace {
  const GpuBuffer* buffer = nullptr;
  uint64_t offset = 0;
};

// Copies bytes; offsets and size are multiples of 4.
struct GpuCopy {
  GpuPlace from;
  GpuPlace to;
  uint64_t bytes = 0;
};

using GpuCommand = std::variant<GpuDispatch, GpuCopy>;

// Commands that may run at the same time. Everything that a stage writes is seen by the stages after it.
using GpuStage = std::vector<GpuCommand>;

// Stages made ready to run again and again.
class GpuRecording {
 public:
  virtual ~GpuRecording() = default;

  // Submits once and waits until everything is done and what was copied to kHost buffers can be read. The GPU's own
  // time in milliseconds, from its timestamps; 0 where the device has none. Unavailable when the device is lost,
  // DeadlineExceeded when it does not come back: then neither the recording nor its device can be used any more.
  virtual Result<double> Run() = 0;

  virtual uint32_t dispatches() const = 0;  // of one run
};

class GpuDevice {
 public:
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  virtual ~GpuDevice() = default;

  virtual const DeviceInfo& info() const = 0;

  // Bytes that can still be taken from its memory, as far as the driver tells.
  virtual Result<uint64_t> FreeMemory() const = 0;

  // ResourceExhausted, with the bytes asked for, when there is no room. `what` is for the sentence: "weights".
  virtual Result<std::unique_ptr<GpuBuffer>> Allocate(uint64_t bytes, GpuMemoryKind kind, std::string_view what) = 0;

  // `code`: SPIR-V for Vulkan, a cubin or PTX for CUDA; not needed after the call. `name` is for errors.
  virtual Result<GpuModuleId> LoadModule(std::string_view name, std::span<const std::byte> code,
                                         GpuStart start = GpuStart::kWhenAllIsDone) = 0;
  // `threads` of a workgroup, as the module was compiled for. Unavailable, with the driver's words, when the driver
  // refuses the kernel.
  virtual Result<GpuKernelId> LoadKernel(GpuModuleId module, std::string_view entry, uint32_t threads) = 0;

  // The buffers named in copies must outlive the recording; addresses inside parameters are the caller's care.
  virtual Result<std::unique_ptr<GpuRecording>> Record(std::span<const GpuStage> stages) = 0;

  // Submits the copies and waits for them.
  virtual Status Copy(std::span<const GpuCopy> copies) = 0;

 protected:
  GpuDevice() = default;
};

// Opens the device of an inventory (by its UUID, else its index), in this process: a device that passed its probe.
// Unavailable when it is gone or the driver refuses.
Result<std::unique_ptr<GpuDevice>> OpenVulkanDevice(const DeviceInfo& info);
Result<std::unique_ptr<GpuDevice>> OpenCudaDevice(const DeviceInfo& info);
// By the kind of `info`; InvalidArgument for a CPU.
Result<std::unique_ptr<GpuDevice>> OpenGpuDevice(const DeviceInfo& info);

}  // namespace candor
