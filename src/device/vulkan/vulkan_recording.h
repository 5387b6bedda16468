// VulkanRecording: stages in one command buffer, with a memory barrier between them and a timestamp at either end.
#pragma once

#include <memory>
#include <span>

#include "device/vulkan/vulkan_context.h"

namespace candor {

class VulkanRecording : public GpuRecording {
 public:
  // `pipelines` by GpuKernelId.
  static Result<std::unique_ptr<VulkanRecording>> Make(VulkanContext& context, std::span<const VkPipeline> pipelines,
                                                       std::span<const GpuStage> stages);
  ~VulkanRecording() override;

  Result<double> Run() override;
  uint32_t dispatches() const override { return dispatches_; }

 private:
  explicit VulkanRecording(VulkanContext& context) : context_(context) {}
  Status Record(std::span<const VkPipeline> pipelines, std::span<const GpuStage> stages);
  void Add(const GpuDispatch& dispatch, std::span<const VkPipeline> pipelines);
  void Add(const GpuCopy& copy);
  void Barrier(bool to_host);
  Result<double> ElapsedMilliseconds() const;

  VulkanContext& context_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  VkPipeline bound_ = VK_NULL_HANDLE;
  uint32_t dispatches_ = 0;
};

}  // namespace candor
