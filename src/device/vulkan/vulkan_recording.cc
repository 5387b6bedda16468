#include "device/vulkan/vulkan_recording.h"

#include "device/vulkan/vulkan_buffer.h"

namespace candor {
namespace {

VkBuffer HandleOf(const GpuPlace& place) { return static_cast<const VulkanBuffer*>(place.buffer)->handle(); }

}  // namespace

Result<std::unique_ptr<VulkanRecording>> VulkanRecording::Make(VulkanContext& context,
                                                               std::span<const VkPipeline> pipelines,
                                                               std::span<const GpuStage> stages) {
  std::unique_ptr<VulkanRecording> recording(new VulkanRecording(context));
  CANDOR_ASSIGN_OR_RETURN(recording->commands_, context.AllocateCommands());
  if (context.timestamps()) {
    auto info = VulkanStruct<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 2;
    CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateQueryPool", context.compute().vkCreateQueryPool(
                                                           context.device(), &info, nullptr, &recording->queries_));
  }
  CANDOR_RETURN_IF_ERROR(recording->Record(pipelines, stages));
  return recording;
}

VulkanRecording::~VulkanRecording() {
  context_.FreeCommands(commands_);
  if (queries_ != VK_NULL_HANDLE) context_.compute().vkDestroyQueryPool(context_.device(), queries_, nullptr);
}

Status VulkanRecording::Record(std::span<const VkPipeline> pipelines, std::span<const GpuStage> stages) {
  const VulkanComputeApi& compute = context_.compute();
  const auto begin = VulkanStruct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  CANDOR_RETURN_IF_VULKAN_ERROR("vkBeginCommandBuffer", context_.api().vkBeginCommandBuffer(commands_, &begin));
  if (queries_ != VK_NULL_HANDLE) {
    compute.vkCmdResetQueryPool(commands_, queries_, 0, 2);
    compute.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries_, 0);
  }
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const GpuCommand& command : stages[i]) {
      if (const auto* dispatch = std::get_if<GpuDispatch>(&command)) Add(*dispatch, pipelines);
      if (const auto* copy = std::get_if<GpuCopy>(&command)) Add(*copy);
    }
    Barrier(i + 1 == stages.size());
  }
  if (queries_ != VK_NULL_HANDLE)
    compute.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 1);
  CANDOR_RETURN_IF_VULKAN_ERROR("vkEndCommandBuffer", context_.api().vkEndCommandBuffer(commands_));
  return OkStatus();
}

void VulkanRecording::Add(const GpuDispatch& dispatch, std::span<const VkPipeline> pipelines) {
  const VulkanComputeApi& compute = context_.compute();
  const VkPipeline pipeline = pipelines[dispatch.kernel];
  if (pipeline != bound_) compute.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  bound_ = pipeline;
  compute.vkCmdPushConstants(commands_, context_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, dispatch.parameter_bytes,
                             dispatch.parameters.data());
  compute.vkCmdDispatch(commands_, dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]);
  ++dispatches_;
}

void VulkanRecording::Add(const GpuCopy& copy) {
  const VkBufferCopy region = {copy.from.offset, copy.to.offset, copy.bytes};
  context_.api().vkCmdCopyBuffer(commands_, HandleOf(copy.from), HandleOf(copy.to), 1, &region);
}

void VulkanRecording::Barrier(bool to_host) {
  constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  constexpr VkPipelineStageFlags kHost = VK_PIPELINE_STAGE_HOST_BIT;
  auto barrier = VulkanStruct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  if (!to_host) {
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                            VK_ACCESS_TRANSFER_WRITE_BIT;
  }
  context_.api().vkCmdPipelineBarrier(commands_, kWork, to_host ? kHost : kWork, 0, 1, &barrier, 0, nullptr, 0,
                                      nullptr);
}

Result<double> VulkanRecording::ElapsedMilliseconds() const {
  if (queries_ == VK_NULL_HANDLE) return 0.0;
  uint64_t ticks[2] = {};
  CANDOR_RETURN_IF_VULKAN_ERROR(
      "vkGetQueryPoolResults",
      context_.compute().vkGetQueryPoolResults(context_.device(), queries_, 0, 2, sizeof(ticks), ticks,
                                               sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  return static_cast<double>(ticks[1] - ticks[0]) * context_.info().gpu.timestamp_period * 1e-6;
}

Result<double> VulkanRecording::Run() {
  CANDOR_RETURN_IF_ERROR(context_.SubmitAndWait(commands_));
  return ElapsedMilliseconds();
}

}  // namespace candor
