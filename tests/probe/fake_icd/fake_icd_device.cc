// The device half of the fake driver: memory is host memory, a copy is done when it is recorded.
#include <cstdlib>
#include <cstring>

#include "fake_icd.h"

namespace candor::fake {
namespace {

VkResult CreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo*, const VkAllocationCallbacks*, VkDevice* device) {
  if (Misbehave("device")) return VK_ERROR_INITIALIZATION_FAILED;
  if (FaultAt("device") == "lost") return VK_ERROR_DEVICE_LOST;
  *device = reinterpret_cast<VkDevice>(new Dispatchable);
  return VK_SUCCESS;
}
void DestroyDevice(VkDevice device, const VkAllocationCallbacks*) { delete reinterpret_cast<Dispatchable*>(device); }

void GetDeviceQueue(VkDevice, uint32_t, uint32_t, VkQueue* queue) {
  static Dispatchable the_queue;  // NOLINT: the loader writes into it
  *queue = reinterpret_cast<VkQueue>(&the_queue);
}

VkResult CreateBuffer(VkDevice, const VkBufferCreateInfo* info, const VkAllocationCallbacks*, VkBuffer* buffer) {
  *buffer = ToHandle<VkBuffer>(new Buffer{info->size, nullptr});
  return VK_SUCCESS;
}
void DestroyBuffer(VkDevice, VkBuffer buffer, const VkAllocationCallbacks*) { delete FromHandle<Buffer>(buffer); }
void GetBufferMemoryRequirements(VkDevice, VkBuffer buffer, VkMemoryRequirements* needed) {
  *needed = {FromHandle<Buffer>(buffer)->size, 256, 1};
}

VkResult AllocateMemory(VkDevice, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks*,
                        VkDeviceMemory* memory) {
  if (Misbehave("allocate")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  void* bytes = malloc(info->allocationSize);
  if (bytes == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
  *memory = ToHandle<VkDeviceMemory>(bytes);
  return VK_SUCCESS;
}
void FreeMemory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks*) { free(FromHandle<void>(memory)); }
VkResult BindBufferMemory(VkDevice, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  FromHandle<Buffer>(buffer)->bytes = FromHandle<std::byte>(memory) + offset;
  return VK_SUCCESS;
}
VkResult MapMemory(VkDevice, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize, VkMemoryMapFlags,
                   void** address) {
  *address = FaultAt("allocate") == "unmapped" ? nullptr : FromHandle<std::byte>(memory) + offset;
  return VK_SUCCESS;
}

VkResult CreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*, const VkAllocationCallbacks*,
                           VkCommandPool* pool) {
  *pool = ToHandle<VkCommandPool>(new int(0));
  return VK_SUCCESS;
}
void DestroyCommandPool(VkDevice, VkCommandPool pool, const VkAllocationCallbacks*) { delete FromHandle<int>(pool); }
VkResult AllocateCommandBuffers(VkDevice, const VkCommandBufferAllocateInfo*, VkCommandBuffer* commands) {
  static Dispatchable the_commands;  // NOLINT: the loader writes into it
  *commands = reinterpret_cast<VkCommandBuffer>(&the_commands);
  return VK_SUCCESS;
}
VkResult BeginCommandBuffer(VkCommandBuffer, const VkCommandBufferBeginInfo*) { return VK_SUCCESS; }
VkResult EndCommandBuffer(VkCommandBuffer) { return VK_SUCCESS; }
void CmdPipelineBarrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags, uint32_t,
                        const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*, uint32_t,
                        const VkImageMemoryBarrier*) {}

void CmdCopyBuffer(VkCommandBuffer, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy* regions) {
  const Buffer& source = *FromHandle<Buffer>(from);
  Buffer& target = *FromHandle<Buffer>(to);
  for (uint32_t i = 0; i < count; ++i) {
    memcpy(target.bytes + regions[i].dstOffset, source.bytes + regions[i].srcOffset, regions[i].size);
  }
  // A lie in silence: one byte in the middle is another one.
  std::byte& middle = target.bytes[target.size / 2];
  if (FaultAt("allocate") == "lie") middle = static_cast<std::byte>(static_cast<unsigned>(middle) + 1);
}

VkResult CreateFence(VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks*, VkFence* fence) {
  *fence = ToHandle<VkFence>(new int(0));
  return VK_SUCCESS;
}
void DestroyFence(VkDevice, VkFence fence, const VkAllocationCallbacks*) { delete FromHandle<int>(fence); }
VkResult WaitForFences(VkDevice, uint32_t, const VkFence*, VkBool32, uint64_t) {
  return FaultAt("allocate") == "lost" ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}
VkResult QueueSubmit(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  if (KernelsRecorded() && Misbehave("compute")) return VK_ERROR_DEVICE_LOST;
  return VK_SUCCESS;
}
VkResult DeviceWaitIdle(VkDevice) { return VK_SUCCESS; }

}  // namespace

PFN_vkVoidFunction FindDeviceFunction(std::string_view name) {
  const NamedFunction functions[] = {
      CANDOR_FAKE(CreateDevice),
      CANDOR_FAKE(DestroyDevice),
      CANDOR_FAKE(GetDeviceQueue),
      CANDOR_FAKE(CreateBuffer),
      CANDOR_FAKE(DestroyBuffer),
      CANDOR_FAKE(GetBufferMemoryRequirements),
      CANDOR_FAKE(AllocateMemory),
      CANDOR_FAKE(FreeMemory),
      CANDOR_FAKE(BindBufferMemory),
      CANDOR_FAKE(MapMemory),
      CANDOR_FAKE(CreateCommandPool),
      CANDOR_FAKE(DestroyCommandPool),
      CANDOR_FAKE(AllocateCommandBuffers),
      CANDOR_FAKE(BeginCommandBuffer),
      CANDOR_FAKE(EndCommandBuffer),
      CANDOR_FAKE(CmdCopyBuffer),
      CANDOR_FAKE(CmdPipelineBarrier),
      CANDOR_FAKE(CreateFence),
      CANDOR_FAKE(DestroyFence),
      CANDOR_FAKE(WaitForFences),
      CANDOR_FAKE(QueueSubmit),
      CANDOR_FAKE(DeviceWaitIdle),
  };
  for (const NamedFunction& known : functions) {
    if (known.name == name) return known.function;
  }
  return FindComputeFunction(name);
}

}  // namespace candor::fake
