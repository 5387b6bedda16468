// Runs GpuLaunches on a Vulkan device, one at a time and waited for: just enough to test kernels. Everything is
// host-visible memory. The loader is opened at run time, so that a machine without Vulkan can say NOT RUN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "kernels/lib/gpu_launch.h"

namespace candor {

struct VulkanHandles;  // the Vulkan objects; vulkan.h stays in the .cc

// Mapped device memory. Freed by the runner that made it.
struct GpuMemory {
  DeviceAddress address = 0;
  std::byte* host = nullptr;
  size_t bytes = 0;
};

enum class SoftwareAdapters { kRefused, kAllowed };

class VulkanRunner {
 public:
  // Unavailable: no loader, no device, or only software adapters without permission. A hardware device comes first.
  static Result<std::unique_ptr<VulkanRunner>> Create(SoftwareAdapters software);
  ~VulkanRunner();
  VulkanRunner(const VulkanRunner&) = delete;
  VulkanRunner& operator=(const VulkanRunner&) = delete;

  const std::string& device_name() const { return device_name_; }
  GpuShape shape() const { return {subgroup_size_}; }

  Result<GpuMemory> Allocate(size_t bytes);
  void FreeAll();
  // NotFound: no such module or entry point. Unavailable: the device lacks a capability of the module.
  Status Run(const GpuLaunch& launch);

 private:
  VulkanRunner();
  Status Start(SoftwareAdapters software);
  Status PickDevice(SoftwareAdapters software);
  Status MakeDevice();
  Result<uint64_t> PipelineOf(const GpuLaunch& launch);

  std::unique_ptr<VulkanHandles> vk_;
  std::string device_name_;
  uint32_t subgroup_size_ = 0;
  std::map<std::string, uint64_t> pipelines_;  // "module/entry" -> VkPipeline
};

}  // namespace candor
