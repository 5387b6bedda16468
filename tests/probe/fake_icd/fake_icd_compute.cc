// The half of the fake driver that runs kernels: it takes them all and runs none, as a driver that compiles to nothing
// does; buffers have their host address.
#include "fake_icd.h"

namespace candor::fake {
namespace {

VkDeviceAddress GetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo* info) {
  return (VkDeviceAddress)(uintptr_t)FromHandle<Buffer>(info->buffer)->bytes;  // NOLINT
}

VkResult CreateShaderModule(VkDevice, const VkShaderModuleCreateInfo*, const VkAllocationCallbacks*,
                            VkShaderModule* module) {
  *module = ToHandle<VkShaderModule>(new int(0));
  return VK_SUCCESS;
}
void DestroyShaderModule(VkDevice, VkShaderModule module, const VkAllocationCallbacks*) {
  delete FromHandle<int>(module);
}

VkResult CreatePipelineLayout(VkDevice, const VkPipelineLayoutCreateInfo*, const VkAllocationCallbacks*,
                              VkPipelineLayout* layout) {
  *layout = ToHandle<VkPipelineLayout>(new int(0));
  return VK_SUCCESS;
}
void DestroyPipelineLayout(VkDevice, VkPipelineLayout layout, const VkAllocationCallbacks*) {
  delete FromHandle<int>(layout);
}

VkResult CreateComputePipelines(VkDevice, VkPipelineCache, uint32_t count, const VkComputePipelineCreateInfo*,
                                const VkAllocationCallbacks*, VkPipeline* pipelines) {
  if (Misbehave("compile")) return VK_ERROR_UNKNOWN;
  for (uint32_t i = 0; i < count; ++i)
    pipelines[i] = FaultAt("compile") == "none" ? VK_NULL_HANDLE : ToHandle<VkPipeline>(new int(0));
  return VK_SUCCESS;
}
void DestroyPipeline(VkDevice, VkPipeline pipeline, const VkAllocationCallbacks*) { delete FromHandle<int>(pipeline); }

VkResult CreateQueryPool(VkDevice, const VkQueryPoolCreateInfo*, const VkAllocationCallbacks*, VkQueryPool* pool) {
  *pool = ToHandle<VkQueryPool>(new int(0));
  return VK_SUCCESS;
}
void DestroyQueryPool(VkDevice, VkQueryPool pool, const VkAllocationCallbacks*) { delete FromHandle<int>(pool); }
VkResult GetQueryPoolResults(VkDevice, VkQueryPool, uint32_t, uint32_t count, size_t, void* results, VkDeviceSize,
                             VkQueryResultFlags) {
  for (uint32_t i = 0; i < count; ++i) static_cast<uint64_t*>(results)[i] = i;
  return VK_SUCCESS;
}

void FreeCommandBuffers(VkDevice, VkCommandPool, uint32_t, const VkCommandBuffer*) {}
VkResult ResetFences(VkDevice, uint32_t, const VkFence*) { return VK_SUCCESS; }
void CmdBindPipeline(VkCommandBuffer, VkPipelineBindPoint, VkPipeline) {}
void CmdPushConstants(VkCommandBuffer, VkPipelineLayout, VkShaderStageFlags, uint32_t, uint32_t, const void*) {}
void CmdDispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) { KernelsRecorded() = true; }
void CmdResetQueryPool(VkCommandBuffer, VkQueryPool, uint32_t, uint32_t) {}
void CmdWriteTimestamp(VkCommandBuffer, VkPipelineStageFlagBits, VkQueryPool, uint32_t) {}

}  // namespace

PFN_vkVoidFunction FindComputeFunction(std::string_view name) {
  const NamedFunction functions[] = {
      CANDOR_FAKE(GetBufferDeviceAddress), CANDOR_FAKE(CreateShaderModule),    CANDOR_FAKE(DestroyShaderModule),
      CANDOR_FAKE(CreatePipelineLayout),   CANDOR_FAKE(DestroyPipelineLayout), CANDOR_FAKE(CreateComputePipelines),
      CANDOR_FAKE(DestroyPipeline),        CANDOR_FAKE(CreateQueryPool),       CANDOR_FAKE(DestroyQueryPool),
      CANDOR_FAKE(GetQueryPoolResults),    CANDOR_FAKE(FreeCommandBuffers),    CANDOR_FAKE(ResetFences),
      CANDOR_FAKE(CmdBindPipeline),        CANDOR_FAKE(CmdPushConstants),      CANDOR_FAKE(CmdDispatch),
      CANDOR_FAKE(CmdResetQueryPool),      CANDOR_FAKE(CmdWriteTimestamp),
  };
  for (const NamedFunction& known : functions) {
    if (known.name == name) return known.function;
  }
  return nullptr;
}

}  // namespace candor::fake
