// GpuProgram: the embedded kernels on one open device, each loaded when a launch first names it.
#pragma once

#include <map>
#include <string>

#include "device/gpu_device.h"
#include "kernels/lib/gpu_launch.h"
#include "kernels/lib/gpu_modules.h"

namespace candor {

// One thread at a time. The device must outlive it.
class GpuProgram {
 public:
  explicit GpuProgram(GpuDevice& device) : device_(device) {}
  GpuProgram(const GpuProgram&) = delete;
  GpuProgram& operator=(const GpuProgram&) = delete;

  GpuDevice& device() const { return device_; }
  GpuShape shape() const { return {device_.info().gpu.subgroup_size}; }
  // Does the device multiply bytes, so that int8 activations are of use?
  bool has_int8_products() const;

  // The launch as a command. Unimplemented: this build or this kind of device has no such kernel (its name is in the
  // sentence). Unavailable: the driver refuses it. Internal: a grid that no device takes.
  Result<GpuDispatch> Dispatch(const GpuLaunch& launch);

 private:
  Result<GpuKernelId> KernelOf(const GpuLaunch& launch);
  Result<GpuModuleId> ModuleOf(const GpuModule& module);

  GpuDevice& device_;
  std::map<std::string, GpuModuleId, std::less<>> modules_;
  std::map<std::string, GpuKernelId, std::less<>> kernels_;  // "module/entry"
};

}  // namespace candor
