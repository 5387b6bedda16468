#include "device/vulkan/vulkan_buffer.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"

namespace candor {
namespace {

constexpr VkMemoryPropertyFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// Results are read by the host, which is slow without its cache.
std::optional<uint32_t> MemoryTypeOf(const VulkanContext& context, uint32_t allowed, GpuMemoryKind kind) {
  if (kind == GpuMemoryKind::kDevice) return context.FindMemoryType(allowed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  const auto cached = context.FindMemoryType(allowed, kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  return cached ? cached : context.FindMemoryType(allowed, kMapped);
}

}  // namespace

VulkanBuffer::Parts::Parts(Parts&& other) noexcept
    : context(other.context),
      buffer(std::exchange(other.buffer, VK_NULL_HANDLE)),
      memory(std::exchange(other.memory, VK_NULL_HANDLE)),
      host(std::exchange(other.host, nullptr)) {}

VulkanBuffer::Parts::~Parts() {
  if (buffer != VK_NULL_HANDLE) context->api().vkDestroyBuffer(context->device(), buffer, nullptr);
  if (memory != VK_NULL_HANDLE) context->api().vkFreeMemory(context->device(), memory, nullptr);
}

VulkanBuffer::~VulkanBuffer() = default;

Status VulkanBuffer::Fill(VulkanContext& context, uint64_t bytes, GpuMemoryKind kind, Parts& parts) {
  const VulkanDeviceApi& api = context.api();
  auto info = VulkanStruct<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateBuffer", api.vkCreateBuffer(context.device(), &info, nullptr, &parts.buffer));
  VkMemoryRequirements needed = {};
  api.vkGetBufferMemoryRequirements(context.device(), parts.buffer, &needed);
  const std::optional<uint32_t> type = MemoryTypeOf(context, needed.memoryTypeBits, kind);
  if (!type) return FailedPreconditionError("vulkan: the device has no memory of a kind that buffers need");
  auto flags = VulkanStruct<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = VulkanStruct<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = &flags;
  allocate.allocationSize = std::max<uint64_t>(needed.size, bytes);
  allocate.memoryTypeIndex = *type;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkAllocateMemory",
                                api.vkAllocateMemory(context.device(), &allocate, nullptr, &parts.memory));
  CANDOR_RETURN_IF_VULKAN_ERROR("vkBindBufferMemory",
                                api.vkBindBufferMemory(context.device(), parts.buffer, parts.memory, 0));
  if (kind == GpuMemoryKind::kDevice) return OkStatus();
  void* host = nullptr;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkMapMemory",
                                api.vkMapMemory(context.device(), parts.memory, 0, VK_WHOLE_SIZE, 0, &host));
  if (host == nullptr) return UnavailableError("vulkan vkMapMemory: expected an address, got none");
  parts.host = static_cast<std::byte*>(host);
  return OkStatus();
}

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::Make(VulkanContext& context, uint64_t bytes, GpuMemoryKind kind,
                                                         std::string_view what) {
  bytes = (std::max<uint64_t>(bytes, 4) + 3) / 4 * 4;
  Parts parts(context);
  const Status status = Fill(context, bytes, kind, parts);
  if (status.code() == StatusCode::kResourceExhausted) {
    return ResourceExhaustedError(
        "{}: expected {} of {} memory for {}, got {} ({} free, at most {} at once)", DeviceId(context.info()),
        FormatBytes(bytes), kind == GpuMemoryKind::kDevice ? "device" : "host", what, status.message(),
        FormatBytes(context.FreeMemory()), FormatBytes(context.info().gpu.limits.max_allocation));
  }
  CANDOR_RETURN_IF_ERROR(status);
  auto info = VulkanStruct<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  info.buffer = parts.buffer;
  const uint64_t address = context.compute().vkGetBufferDeviceAddress(context.device(), &info);
  if (address == 0) return UnavailableError("vulkan vkGetBufferDeviceAddress: expected an address, got none");
  return std::unique_ptr<VulkanBuffer>(new VulkanBuffer(std::move(parts), address, bytes));
}

}  // namespace candor
