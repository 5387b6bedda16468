// GpuCanaries: kernels of every kind run once on a device that is on probation, and compared with what the host
// computes in double. A driver that compiles them wrongly, or a device that computes wrongly, is found here and not in
// a user's text.
#pragma once

#include <memory>
#include <vector>

#include "device/gpu_device.h"
#include "kernels/lib/gpu_program.h"

namespace candor {

// Does this build hold GPU kernels?
bool HasGpuKernels();

// Calls into a driver: runs in a probe process. One thread.
class GpuCanaries {
 public:
  // Opens the device and makes its kernels ready, so that a driver that fails or crashes over one does it here.
  static Result<std::unique_ptr<GpuCanaries>> Make(const DeviceInfo& info);
  ~GpuCanaries();

  // DataLoss, naming the kernel, the place and both numbers, when one is wrong.
  Status Run();

 private:
  struct Canary;
  explicit GpuCanaries(std::unique_ptr<GpuDevice> device);
  Status MakeProducts();
  Status MakeInt8Products();
  Status MakeNorm();
  Status MakeAttention();
  Status Add(Canary canary);
  // Memory that host and device reach, with these bytes in it.
  Result<DeviceAddress> Put(std::span<const std::byte> bytes);
  Result<float*> Output(size_t count, DeviceAddress& address);

  std::unique_ptr<GpuDevice> device_;
  GpuProgram program_;
  std::vector<std::unique_ptr<GpuBuffer>> buffers_;
  std::vector<Canary> canaries_;
};

}  // namespace candor
