#include "device/vulkan/vulkan_context.h"

#include <algorithm>
#include <utility>

#include "device/vulkan/vulkan_features.h"
#include "device/vulkan/vulkan_identity.h"

namespace candor {
namespace {

// A step of the largest model takes seconds at most; a driver that is silent for this long has hung.
constexpr uint64_t kWaitNanoseconds = 120'000'000'000;

bool Has(const DeviceInfo& info, std::string_view feature) {
  return std::find(info.features.begin(), info.features.end(), feature) != info.features.end();
}

// What the kernels are written with (vulkan_features.cc), and of the rest what this device has.
void RequestFeatures(const DeviceInfo& info, VulkanCapabilities& wanted) {
  wanted.features.features.shaderInt64 = VK_TRUE;
  wanted.features.features.shaderInt16 = VK_TRUE;
  wanted.features11.storageBuffer16BitAccess = VK_TRUE;
  wanted.features12.bufferDeviceAddress = VK_TRUE;
  wanted.features12.shaderInt8 = VK_TRUE;
  wanted.features12.storageBuffer8BitAccess = VK_TRUE;
  wanted.features12.scalarBlockLayout = VK_TRUE;
  wanted.features13.maintenance4 = VK_TRUE;
  wanted.features13.shaderIntegerDotProduct = Has(info, "shaderIntegerDotProduct") ? VK_TRUE : VK_FALSE;
  const bool full = Has(info, "subgroupSizeControl") && Has(info, "computeFullSubgroups");
  wanted.features13.subgroupSizeControl = full ? VK_TRUE : VK_FALSE;
  wanted.features13.computeFullSubgroups = full ? VK_TRUE : VK_FALSE;
}

struct ComputeFamily {
  uint32_t index = 0;
  bool timestamps = false;
};

// A family for compute alone comes first: it does not wait for a desktop's graphics.
std::optional<ComputeFamily> FindComputeFamily(const VulkanInstance& instance, VkPhysicalDevice adapter) {
  uint32_t count = 64;
  std::vector<VkQueueFamilyProperties> families(count);
  instance.api().vkGetPhysicalDeviceQueueFamilyProperties(adapter, &count, families.data());
  families.resize(std::min<size_t>(count, families.size()));
  std::optional<ComputeFamily> found;
  for (size_t i = 0; i < families.size(); ++i) {
    const VkQueueFamilyProperties& family = families[i];
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || family.queueCount == 0) continue;
    const bool compute_alone = (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0;
    if (found && !compute_alone) continue;
    found = ComputeFamily{static_cast<uint32_t>(i), family.timestampValidBits > 0};
    if (compute_alone) break;
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<VulkanContext>> VulkanContext::Open(const DeviceInfo& info) {
  std::unique_ptr<VulkanContext> context(new VulkanContext());
  CANDOR_RETURN_IF_ERROR(context->FindAdapter(info));
  CANDOR_RETURN_IF_ERROR(context->MakeDevice());
  CANDOR_RETURN_IF_ERROR(context->MakeShared());
  return context;
}

Status VulkanContext::FindAdapter(const DeviceInfo& info) {
  CANDOR_ASSIGN_OR_RETURN(loader_, VulkanLoader::Open());
  auto instance = VulkanInstance::Create(loader_);
  if (!instance.ok()) return instance.status();
  instance_.emplace(std::move(*instance));
  CANDOR_ASSIGN_OR_RETURN(const std::vector<VulkanAdapter> adapters, instance_->ListAdapters());
  const auto found = std::find_if(adapters.begin(), adapters.end(), [&](const VulkanAdapter& adapter) {
    return info.gpu.uuid.empty() ? adapter.info.index == info.index : adapter.info.gpu.uuid == info.gpu.uuid;
  });
  if (found == adapters.end()) {
    return UnavailableError(
        "device {} ({}): expected the device that was probed, got none of its UUID; it was unplugged, reset or taken "
        "away: see `candor devices`",
        DeviceId(info), info.name);
  }
  if (!found->info.gpu.missing.empty()) {
    return FailedPreconditionError("device {} ({}): it lacks {}, which the kernels need; update its driver",
                                   DeviceId(info), info.name, found->info.gpu.missing.front());
  }
  adapter_ = found->handle;
  info_ = found->info;
  info_.verdict = info.verdict;
  return OkStatus();
}

Status VulkanContext::MakeDevice() {
  const std::optional<ComputeFamily> family = FindComputeFamily(*instance_, adapter_);
  if (!family) return FailedPreconditionError("vulkan: expected a device with a compute queue, got none");
  queue_family_ = family->index;
  timestamps_ = family->timestamps && info_.gpu.timestamp_period > 0;
  auto memory = VulkanStruct<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  instance_->api().vkGetPhysicalDeviceMemoryProperties2(adapter_, &memory);
  memory_ = memory.memoryProperties;
  memory_.memoryTypeCount = std::min<uint32_t>(memory_.memoryTypeCount, VK_MAX_MEMORY_TYPES);

  VulkanCapabilities wanted;
  RequestFeatures(info_, wanted);
  full_subgroups_ = wanted.features13.computeFullSubgroups != 0;
  const float priority = 1.0f;
  auto queue = VulkanStruct<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = VulkanStruct<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &wanted.features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateDevice", instance_->api().vkCreateDevice(adapter_, &info, nullptr, &device_));
  CANDOR_ASSIGN_OR_RETURN(api_, LoadDeviceApi(instance_->api().vkGetDeviceProcAddr, device_));
  CANDOR_ASSIGN_OR_RETURN(compute_, LoadComputeApi(instance_->api().vkGetDeviceProcAddr, device_));
  api_.vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
  if (queue_ == VK_NULL_HANDLE) return UnavailableError("vulkan vkGetDeviceQueue: expected a queue, got none");
  return OkStatus();
}

Status VulkanContext::MakeShared() {
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, kMaxGpuParameterBytes};
  auto layout = VulkanStruct<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreatePipelineLayout",
                                compute_.vkCreatePipelineLayout(device_, &layout, nullptr, &layout_));
  auto pool = VulkanStruct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = queue_family_;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateCommandPool", api_.vkCreateCommandPool(device_, &pool, nullptr, &pool_));
  const auto fence = VulkanStruct<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateFence", api_.vkCreateFence(device_, &fence, nullptr, &fence_));
  return OkStatus();
}

VulkanContext::~VulkanContext() {
  if (device_ == VK_NULL_HANDLE || api_.vkDestroyDevice == nullptr) return;
  if (fence_ != VK_NULL_HANDLE) api_.vkDestroyFence(device_, fence_, nullptr);
  if (pool_ != VK_NULL_HANDLE) api_.vkDestroyCommandPool(device_, pool_, nullptr);
  if (layout_ != VK_NULL_HANDLE) compute_.vkDestroyPipelineLayout(device_, layout_, nullptr);
  api_.vkDestroyDevice(device_, nullptr);
}

std::optional<uint32_t> VulkanContext::FindMemoryType(uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  for (uint32_t type = 0; type < memory_.memoryTypeCount; ++type) {
    if ((allowed >> type & 1) != 0 && (memory_.memoryTypes[type].propertyFlags & wanted) == wanted) return type;
  }
  return std::nullopt;
}

uint64_t VulkanContext::FreeMemory() const {
  const DeviceInfo now = IdentifyVulkanAdapter(*instance_, adapter_);
  return now.memory_available > 0 ? now.memory_available : now.memory_total;
}

Result<VkCommandBuffer> VulkanContext::AllocateCommands() {
  CANDOR_RETURN_IF_ERROR(lost_);
  auto info = VulkanStruct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkAllocateCommandBuffers", api_.vkAllocateCommandBuffers(device_, &info, &commands));
  return commands;
}

void VulkanContext::FreeCommands(VkCommandBuffer commands) {
  if (commands != VK_NULL_HANDLE) compute_.vkFreeCommandBuffers(device_, pool_, 1, &commands);
}

Status VulkanContext::Lose(Status status) {
  lost_ = UnavailableError("device {} ({}): it stopped working ({}); load the model again, `candor devices` tells more",
                           DeviceId(info_), info_.name, status.message());
  return status.code() == StatusCode::kDeadlineExceeded ? status.WithContext(DeviceId(info_)) : lost_;
}

Status VulkanContext::SubmitAndWait(VkCommandBuffer commands) {
  CANDOR_RETURN_IF_ERROR(lost_);
  auto submit = VulkanStruct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  VkResult result = api_.vkQueueSubmit(queue_, 1, &submit, fence_);
  if (result != VK_SUCCESS) return Lose(VulkanError("vkQueueSubmit", result));
  result = api_.vkWaitForFences(device_, 1, &fence_, VK_TRUE, kWaitNanoseconds);
  if (result != VK_SUCCESS) return Lose(VulkanError("vkWaitForFences", result));
  result = compute_.vkResetFences(device_, 1, &fence_);
  if (result != VK_SUCCESS) return Lose(VulkanError("vkResetFences", result));
  return OkStatus();
}

}  // namespace candor
