// GpuDevice for Vulkan.
#include <string>
#include <vector>

#include "device/vulkan/vulkan_buffer.h"
#include "device/vulkan/vulkan_context.h"
#include "device/vulkan/vulkan_recording.h"

namespace candor {
namespace {

class VulkanDevice : public GpuDevice {
 public:
  explicit VulkanDevice(std::unique_ptr<VulkanContext> context) : context_(std::move(context)) {}
  ~VulkanDevice() override {
    for (const VkPipeline pipeline : pipelines_)
      context_->compute().vkDestroyPipeline(context_->device(), pipeline, nullptr);
    for (const Module& module : modules_)
      context_->compute().vkDestroyShaderModule(context_->device(), module.handle, nullptr);
  }

  const DeviceInfo& info() const override { return context_->info(); }
  Result<uint64_t> FreeMemory() const override { return context_->FreeMemory(); }

  Result<std::unique_ptr<GpuBuffer>> Allocate(uint64_t bytes, GpuMemoryKind kind, std::string_view what) override {
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<VulkanBuffer> buffer, VulkanBuffer::Make(*context_, bytes, kind, what));
    return std::unique_ptr<GpuBuffer>(std::move(buffer));
  }

  Result<GpuModuleId> LoadModule(std::string_view name, std::span<const std::byte> code, GpuStart) override {
    auto info = VulkanStruct<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    info.codeSize = code.size();
    info.pCode = reinterpret_cast<const uint32_t*>(code.data());
    Module module{std::string(name), VK_NULL_HANDLE};
    CANDOR_RETURN_IF_VULKAN_ERROR(
        fmt::format("vkCreateShaderModule of {}", name),
        context_->compute().vkCreateShaderModule(context_->device(), &info, nullptr, &module.handle));
    modules_.push_back(std::move(module));
    return static_cast<GpuModuleId>(modules_.size() - 1);
  }

  Result<GpuKernelId> LoadKernel(GpuModuleId module, std::string_view entry, uint32_t) override {
    const std::string name(entry);
    auto info = VulkanStruct<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage = VulkanStruct<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    if (context_->full_subgroups()) info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = modules_[module].handle;
    info.stage.pName = name.c_str();
    info.layout = context_->layout();
    VkPipeline pipeline = VK_NULL_HANDLE;
    CANDOR_RETURN_IF_VULKAN_ERROR(
        fmt::format("vkCreateComputePipelines of {}/{}", modules_[module].name, entry),
        context_->compute().vkCreateComputePipelines(context_->device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
    if (pipeline == VK_NULL_HANDLE)
      return UnavailableError("vulkan vkCreateComputePipelines of {}: expected a pipeline, got none", entry);
    pipelines_.push_back(pipeline);
    return static_cast<GpuKernelId>(pipelines_.size() - 1);
  }

  Result<std::unique_ptr<GpuRecording>> Record(std::span<const GpuStage> stages) override {
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<VulkanRecording> recording,
                            VulkanRecording::Make(*context_, pipelines_, stages));
    return std::unique_ptr<GpuRecording>(std::move(recording));
  }

  Status Copy(std::span<const GpuCopy> copies) override {
    const GpuStage stage(copies.begin(), copies.end());
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<GpuRecording> recording, Record({&stage, 1}));
    return recording->Run().status();
  }

 private:
  struct Module {
    std::string name;
    VkShaderModule handle;
  };
  std::unique_ptr<VulkanContext> context_;
  std::vector<Module> modules_;
  std::vector<VkPipeline> pipelines_;  // by GpuKernelId
};

}  // namespace

Result<std::unique_ptr<GpuDevice>> OpenVulkanDevice(const DeviceInfo& info) {
  CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<VulkanContext> context, VulkanContext::Open(info));
  return std::unique_ptr<GpuDevice>(std::make_unique<VulkanDevice>(std::move(context)));
}

}  // namespace candor
