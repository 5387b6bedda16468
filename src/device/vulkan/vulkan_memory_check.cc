#include "device/vulkan/vulkan_memory_check.h"

#include <algorithm>
#include <optional>

#include "base/printable.h"

namespace candor {
namespace {

constexpr uint64_t kWaitNanoseconds = 10'000'000'000;

std::optional<uint32_t> ComputeFamily(const VulkanInstance& instance, VkPhysicalDevice adapter) {
  constexpr uint32_t kMaxFamilies = 64;
  uint32_t count = 0;
  instance.api().vkGetPhysicalDeviceQueueFamilyProperties(adapter, &count, nullptr);
  count = std::min(count, kMaxFamilies);
  std::vector<VkQueueFamilyProperties> families(count);
  instance.api().vkGetPhysicalDeviceQueueFamilyProperties(adapter, &count, families.data());
  for (uint32_t i = 0; i < std::min<size_t>(count, families.size()); ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && families[i].queueCount > 0) return i;
  }
  return std::nullopt;
}

// Any 32-bit value but the one that fresh or stuck memory holds.
uint32_t Pattern(uint64_t index) { return static_cast<uint32_t>(index * 2654435761u) ^ 0x5A5A5A5Au; }

}  // namespace

Result<std::unique_ptr<VulkanMemoryCheck>> VulkanMemoryCheck::Create(const VulkanInstance& instance,
                                                                     VkPhysicalDevice adapter) {
  const std::optional<uint32_t> family = ComputeFamily(instance, adapter);
  if (!family)
    return FailedPreconditionError("vulkan: expected a device with a compute queue, got none; name another one");
  std::unique_ptr<VulkanMemoryCheck> check(new VulkanMemoryCheck());
  check->queue_family_ = *family;
  auto memory = VulkanStruct<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  instance.api().vkGetPhysicalDeviceMemoryProperties2(adapter, &memory);
  check->memory_ = memory.memoryProperties;
  const float priority = 1.0f;
  auto queue = VulkanStruct<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = *family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = VulkanStruct<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateDevice",
                                instance.api().vkCreateDevice(adapter, &info, nullptr, &check->device_));
  CANDOR_ASSIGN_OR_RETURN(check->api_, LoadDeviceApi(instance.api().vkGetDeviceProcAddr, check->device_));
  check->api_.vkGetDeviceQueue(check->device_, *family, 0, &check->queue_);
  if (check->queue_ == VK_NULL_HANDLE) return UnavailableError("vulkan vkGetDeviceQueue: expected a queue, got none");
  return check;
}

VulkanMemoryCheck::~VulkanMemoryCheck() {
  if (device_ == VK_NULL_HANDLE || api_.vkDestroyDevice == nullptr) return;
  if (fence_ != VK_NULL_HANDLE) api_.vkDestroyFence(device_, fence_, nullptr);
  if (pool_ != VK_NULL_HANDLE) api_.vkDestroyCommandPool(device_, pool_, nullptr);
  for (const Allocation& allocation : allocations_) {
    if (allocation.buffer != VK_NULL_HANDLE) api_.vkDestroyBuffer(device_, allocation.buffer, nullptr);
    if (allocation.memory != VK_NULL_HANDLE) api_.vkFreeMemory(device_, allocation.memory, nullptr);
  }
  api_.vkDestroyDevice(device_, nullptr);
}

Result<VulkanMemoryCheck::Allocation> VulkanMemoryCheck::Allocate(uint64_t bytes, VkMemoryPropertyFlags wanted) {
  Allocation& made = allocations_.emplace_back();  // the destructor frees also what is half made
  auto buffer = VulkanStruct<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  buffer.size = bytes;
  buffer.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateBuffer", api_.vkCreateBuffer(device_, &buffer, nullptr, &made.buffer));
  VkMemoryRequirements needed = {};
  api_.vkGetBufferMemoryRequirements(device_, made.buffer, &needed);
  auto info = VulkanStruct<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  info.allocationSize = std::max<uint64_t>(needed.size, bytes);
  const uint32_t types = std::min<uint32_t>(memory_.memoryTypeCount, VK_MAX_MEMORY_TYPES);
  while (info.memoryTypeIndex < types &&
         ((needed.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
          (memory_.memoryTypes[info.memoryTypeIndex].propertyFlags & wanted) != wanted)) {
    ++info.memoryTypeIndex;
  }
  if (info.memoryTypeIndex == types)
    return FailedPreconditionError("vulkan: the device has no memory of a kind that buffers need");
  CANDOR_RETURN_IF_VULKAN_ERROR(fmt::format("vkAllocateMemory of {}", FormatBytes(info.allocationSize)),
                                api_.vkAllocateMemory(device_, &info, nullptr, &made.memory));
  CANDOR_RETURN_IF_VULKAN_ERROR("vkBindBufferMemory", api_.vkBindBufferMemory(device_, made.buffer, made.memory, 0));
  return made;
}

Result<VkCommandBuffer> VulkanMemoryCheck::Record(VkBuffer from, VkBuffer device, VkBuffer to, uint64_t bytes) {
  if (pool_ == VK_NULL_HANDLE) {
    auto info = VulkanStruct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.queueFamilyIndex = queue_family_;
    CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateCommandPool", api_.vkCreateCommandPool(device_, &info, nullptr, &pool_));
  }
  auto info = VulkanStruct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkAllocateCommandBuffers", api_.vkAllocateCommandBuffers(device_, &info, &commands));
  auto begin = VulkanStruct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  CANDOR_RETURN_IF_VULKAN_ERROR("vkBeginCommandBuffer", api_.vkBeginCommandBuffer(commands, &begin));
  const VkBufferCopy region = {0, 0, bytes};
  api_.vkCmdCopyBuffer(commands, from, device, 1, &region);
  auto barrier = VulkanStruct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
  api_.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0,
                            nullptr, 0, nullptr);
  api_.vkCmdCopyBuffer(commands, device, to, 1, &region);
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  api_.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                            nullptr, 0, nullptr);
  CANDOR_RETURN_IF_VULKAN_ERROR("vkEndCommandBuffer", api_.vkEndCommandBuffer(commands));
  return commands;
}

Status VulkanMemoryCheck::SubmitAndWait(VkCommandBuffer commands) {
  auto fence = VulkanStruct<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  if (fence_ == VK_NULL_HANDLE) {
    CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateFence", api_.vkCreateFence(device_, &fence, nullptr, &fence_));
  }
  auto submit = VulkanStruct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkQueueSubmit", api_.vkQueueSubmit(queue_, 1, &submit, fence_));
  CANDOR_RETURN_IF_VULKAN_ERROR("vkWaitForFences",
                                api_.vkWaitForFences(device_, 1, &fence_, VK_TRUE, kWaitNanoseconds));
  return OkStatus();
}

Status VulkanMemoryCheck::RoundTrip(uint64_t bytes) {
  constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  CANDOR_ASSIGN_OR_RETURN(const Allocation from, Allocate(bytes, kHost));
  CANDOR_ASSIGN_OR_RETURN(const Allocation to, Allocate(bytes, kHost));
  CANDOR_ASSIGN_OR_RETURN(const Allocation device, Allocate(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT));
  void* written = nullptr;
  void* read = nullptr;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkMapMemory", api_.vkMapMemory(device_, from.memory, 0, VK_WHOLE_SIZE, 0, &written));
  CANDOR_RETURN_IF_VULKAN_ERROR("vkMapMemory", api_.vkMapMemory(device_, to.memory, 0, VK_WHOLE_SIZE, 0, &read));
  if (written == nullptr || read == nullptr)
    return UnavailableError("vulkan vkMapMemory: expected an address, got none");
  const uint64_t count = bytes / sizeof(uint32_t);
  auto* in = static_cast<uint32_t*>(written);
  auto* out = static_cast<uint32_t*>(read);
  for (uint64_t i = 0; i < count; ++i) {
    in[i] = Pattern(i);
    out[i] = ~Pattern(i);
  }
  CANDOR_ASSIGN_OR_RETURN(const VkCommandBuffer commands, Record(from.buffer, device.buffer, to.buffer, bytes));
  CANDOR_RETURN_IF_ERROR(SubmitAndWait(commands));
  for (uint64_t i = 0; i < count; ++i) {
    if (out[i] != Pattern(i)) {
      return DataLossError(
          "vulkan: expected the {} that were copied to the device and back, got another value at byte {}; "
          "the driver or the device is broken",
          FormatBytes(bytes), i * sizeof(uint32_t));
    }
  }
  return OkStatus();
}

}  // namespace candor
