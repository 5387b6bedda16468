// VulkanBuffer: a VkBuffer with its memory and its address in the device.
#pragma once

#include <memory>
#include <string_view>

#include "device/vulkan/vulkan_context.h"

namespace candor {

class VulkanBuffer : public GpuBuffer {
 public:
  // ResourceExhausted with the bytes asked for, what is free and what one allocation may have.
  static Result<std::unique_ptr<VulkanBuffer>> Make(VulkanContext& context, uint64_t bytes, GpuMemoryKind kind,
                                                    std::string_view what);
  ~VulkanBuffer() override;

  VkBuffer handle() const { return made_.buffer; }

 private:
  // What there is so far of a buffer; frees it.
  struct Parts {
    explicit Parts(VulkanContext& owner) : context(&owner) {}
    Parts(Parts&& other) noexcept;
    ~Parts();
    VulkanContext* context;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::byte* host = nullptr;
  };
  static Status Fill(VulkanContext& context, uint64_t bytes, GpuMemoryKind kind, Parts& parts);
  VulkanBuffer(Parts parts, uint64_t address, uint64_t bytes)
      : GpuBuffer(address, parts.host, bytes), made_(std::move(parts)) {}

  Parts made_;
};

}  // namespace candor
