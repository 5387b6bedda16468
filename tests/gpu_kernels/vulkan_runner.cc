#include "vulkan_runner.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "kernels/lib/gpu_modules.h"

namespace candor {
namespace {

constexpr uint64_t kTimeoutNanoseconds = 120'000'000'000;

Status Check(VkResult result, const char* what) {
  if (result == VK_SUCCESS) return OkStatus();
  return InternalError("{}: expected VK_SUCCESS, got {}", what, static_cast<int>(result));
}

}  // namespace

#define CANDOR_VK_FUNCTIONS(X)         \
  X(DestroyInstance)                   \
  X(EnumeratePhysicalDevices)          \
  X(GetPhysicalDeviceProperties2)      \
  X(GetPhysicalDeviceMemoryProperties) \
  X(CreateDevice)                      \
  X(DestroyDevice)                     \
  X(GetDeviceQueue)                    \
  X(CreateBuffer)                      \
  X(DestroyBuffer)                     \
  X(GetBufferMemoryRequirements)       \
  X(AllocateMemory)                    \
  X(FreeMemory)                        \
  X(BindBufferMemory)                  \
  X(MapMemory)                         \
  X(GetBufferDeviceAddress)            \
  X(CreateShaderModule)                \
  X(DestroyShaderModule)               \
  X(CreatePipelineLayout)              \
  X(DestroyPipelineLayout)             \
  X(CreateComputePipelines)            \
  X(DestroyPipeline)                   \
  X(CreateCommandPool)                 \
  X(DestroyCommandPool)                \
  X(AllocateCommandBuffers)            \
  X(BeginCommandBuffer)                \
  X(EndCommandBuffer)                  \
  X(CmdBindPipeline)                   \
  X(CmdPushConstants)                  \
  X(CmdDispatch)                       \
  X(QueueSubmit)                       \
  X(CreateFence)                       \
  X(DestroyFence)                      \
  X(WaitForFences)                     \
  X(ResetFences)

struct VulkanHandles {
#define CANDOR_VK_MEMBER(name) PFN_vk##name name = nullptr;
  CANDOR_VK_FUNCTIONS(CANDOR_VK_MEMBER)
#undef CANDOR_VK_MEMBER
  void* loader = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkPhysicalDeviceMemoryProperties memory{};
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  struct Allocation {
    VkBuffer buffer;
    VkDeviceMemory memory;
  };
  std::vector<Allocation> allocations;
};

VulkanRunner::VulkanRunner() : vk_(std::make_unique<VulkanHandles>()) {}

Result<std::unique_ptr<VulkanRunner>> VulkanRunner::Create(SoftwareAdapters software) {
  std::unique_ptr<VulkanRunner> runner(new VulkanRunner());
  CANDOR_RETURN_IF_ERROR(runner->Start(software));
  return runner;
}

Status VulkanRunner::Start(SoftwareAdapters software) {
  vk_->loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (vk_->loader == nullptr) return UnavailableError("libvulkan.so.1: expected a Vulkan loader, got none");
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(vk_->loader, "vkGetInstanceProcAddr"));
  if (get == nullptr) return UnavailableError("libvulkan.so.1: expected vkGetInstanceProcAddr");
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  if (create == nullptr || create(&info, nullptr, &vk_->instance) != VK_SUCCESS) {
    vk_->instance = VK_NULL_HANDLE;
    return UnavailableError("Vulkan: expected an instance, got none");
  }
#define CANDOR_VK_LOAD(name) vk_->name = reinterpret_cast<PFN_vk##name>(get(vk_->instance, "vk" #name));
  CANDOR_VK_FUNCTIONS(CANDOR_VK_LOAD)
#undef CANDOR_VK_LOAD
  CANDOR_RETURN_IF_ERROR(PickDevice(software));
  return MakeDevice();
}

Status VulkanRunner::PickDevice(SoftwareAdapters software) {
  uint32_t count = 8;
  VkPhysicalDevice devices[8];
  const VkResult result = vk_->EnumeratePhysicalDevices(vk_->instance, &count, devices);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties.pNext = &subgroup;
    vk_->GetPhysicalDeviceProperties2(devices[i], &properties);
    const bool cpu = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (properties.properties.apiVersion < VK_API_VERSION_1_3) continue;
    if (cpu && (software == SoftwareAdapters::kRefused || vk_->physical != VK_NULL_HANDLE)) continue;
    vk_->physical = devices[i];
    device_name_ = properties.properties.deviceName;
    subgroup_size_ = subgroup.subgroupSize;
    if (!cpu) break;
  }
  if (vk_->physical == VK_NULL_HANDLE) return UnavailableError("Vulkan: expected a device with Vulkan 1.3, got none");
  vk_->GetPhysicalDeviceMemoryProperties(vk_->physical, &vk_->memory);
  return OkStatus();
}

Status VulkanRunner::MakeDevice() {
  VkPhysicalDeviceVulkan13Features features13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features13.computeFullSubgroups = VK_TRUE;
  features13.subgroupSizeControl = VK_TRUE;
  features13.shaderIntegerDotProduct = VK_TRUE;
  VkPhysicalDeviceVulkan12Features features12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features12.pNext = &features13;
  features12.bufferDeviceAddress = VK_TRUE;
  features12.shaderInt8 = VK_TRUE;
  features12.storageBuffer8BitAccess = VK_TRUE;
  VkPhysicalDeviceVulkan11Features features11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  features11.pNext = &features12;
  features11.storageBuffer16BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.pNext = &features11;
  features.features.shaderInt64 = VK_TRUE;
  features.features.shaderInt16 = VK_TRUE;
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  CANDOR_RETURN_IF_ERROR(Check(vk_->CreateDevice(vk_->physical, &info, nullptr, &vk_->device), "vkCreateDevice"));
  vk_->GetDeviceQueue(vk_->device, 0, 0, &vk_->queue);

  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, kMaxGpuParamBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  CANDOR_RETURN_IF_ERROR(
      Check(vk_->CreatePipelineLayout(vk_->device, &layout, nullptr, &vk_->layout), "vkCreatePipelineLayout"));
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  CANDOR_RETURN_IF_ERROR(Check(vk_->CreateCommandPool(vk_->device, &pool, nullptr, &vk_->pool), "vkCreateCommandPool"));
  VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  commands.commandPool = vk_->pool;
  commands.commandBufferCount = 1;
  CANDOR_RETURN_IF_ERROR(
      Check(vk_->AllocateCommandBuffers(vk_->device, &commands, &vk_->commands), "vkAllocateCommandBuffers"));
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  return Check(vk_->CreateFence(vk_->device, &fence, nullptr, &vk_->fence), "vkCreateFence");
}

VulkanRunner::~VulkanRunner() {
  if (vk_->device != VK_NULL_HANDLE) {
    FreeAll();
    for (const auto& [name, pipeline] : pipelines_) {
      vk_->DestroyPipeline(vk_->device, reinterpret_cast<VkPipeline>(pipeline), nullptr);
    }
    vk_->DestroyFence(vk_->device, vk_->fence, nullptr);
    vk_->DestroyCommandPool(vk_->device, vk_->pool, nullptr);
    vk_->DestroyPipelineLayout(vk_->device, vk_->layout, nullptr);
    vk_->DestroyDevice(vk_->device, nullptr);
  }
  if (vk_->instance != VK_NULL_HANDLE && vk_->DestroyInstance != nullptr) vk_->DestroyInstance(vk_->instance, nullptr);
}

Result<GpuMemory> VulkanRunner::Allocate(size_t bytes) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  VulkanHandles::Allocation made{};
  CANDOR_RETURN_IF_ERROR(Check(vk_->CreateBuffer(vk_->device, &info, nullptr, &made.buffer), "vkCreateBuffer"));
  VkMemoryRequirements needed;
  vk_->GetBufferMemoryRequirements(vk_->device, made.buffer, &needed);
  constexpr VkMemoryPropertyFlags kWanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while (type < vk_->memory.memoryTypeCount && ((needed.memoryTypeBits >> type & 1) == 0 ||
                                                (vk_->memory.memoryTypes[type].propertyFlags & kWanted) != kWanted)) {
    ++type;
  }
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.pNext = &flags;
  allocate.allocationSize = needed.size;
  allocate.memoryTypeIndex = type;
  const Status status = Check(vk_->AllocateMemory(vk_->device, &allocate, nullptr, &made.memory), "vkAllocateMemory");
  if (!status.ok()) {
    vk_->DestroyBuffer(vk_->device, made.buffer, nullptr);
    return status;
  }
  vk_->allocations.push_back(made);
  CANDOR_RETURN_IF_ERROR(Check(vk_->BindBufferMemory(vk_->device, made.buffer, made.memory, 0), "vkBindBufferMemory"));
  void* host = nullptr;
  CANDOR_RETURN_IF_ERROR(Check(vk_->MapMemory(vk_->device, made.memory, 0, VK_WHOLE_SIZE, 0, &host), "vkMapMemory"));
  VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = made.buffer;
  return GpuMemory{vk_->GetBufferDeviceAddress(vk_->device, &address), static_cast<std::byte*>(host), bytes};
}

void VulkanRunner::FreeAll() {
  for (const VulkanHandles::Allocation& made : vk_->allocations) {
    vk_->DestroyBuffer(vk_->device, made.buffer, nullptr);
    vk_->FreeMemory(vk_->device, made.memory, nullptr);
  }
  vk_->allocations.clear();
}

Result<uint64_t> VulkanRunner::PipelineOf(const GpuLaunch& launch) {
  const std::string name = launch.module + "/" + launch.entry;
  const auto known = pipelines_.find(name);
  if (known != pipelines_.end()) return known->second;
  const GpuModule* module = FindGpuModule(launch.module);
  if (module == nullptr || FindGpuEntry(*module, launch.entry) == nullptr) {
    return NotFoundError("GPU kernel {}: expected it in the variant table", name);
  }
  CANDOR_ASSIGN_OR_RETURN(const std::vector<std::byte> code, UnpackGpuBinary(*VulkanBinary(*module)));
  VkShaderModuleCreateInfo shader{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  shader.codeSize = code.size();
  shader.pCode = reinterpret_cast<const uint32_t*>(code.data());
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.pName = launch.entry.c_str();
  info.layout = vk_->layout;
  CANDOR_RETURN_IF_ERROR(
      Check(vk_->CreateShaderModule(vk_->device, &shader, nullptr, &info.stage.module), "vkCreateShaderModule"));
  VkPipeline pipeline = VK_NULL_HANDLE;
  const Status status =
      Check(vk_->CreateComputePipelines(vk_->device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), name.c_str());
  vk_->DestroyShaderModule(vk_->device, info.stage.module, nullptr);
  if (!status.ok()) return status;
  pipelines_[name] = reinterpret_cast<uint64_t>(pipeline);
  return reinterpret_cast<uint64_t>(pipeline);
}

Status VulkanRunner::Run(const GpuLaunch& launch) {
  const GpuGrid& grid = launch.grid;
  if (grid.x > kMaxGroups || grid.y > kMaxGroups || grid.z > kMaxGroups || grid.x * grid.y * grid.z == 0) {
    return InvalidArgumentError("{}: expected 1 to {} workgroups a dimension, got {} x {} x {}", launch.entry,
                                kMaxGroups, grid.x, grid.y, grid.z);
  }
  CANDOR_ASSIGN_OR_RETURN(const uint64_t pipeline, PipelineOf(launch));
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  CANDOR_RETURN_IF_ERROR(Check(vk_->BeginCommandBuffer(vk_->commands, &begin), "vkBeginCommandBuffer"));
  vk_->CmdBindPipeline(vk_->commands, VK_PIPELINE_BIND_POINT_COMPUTE, reinterpret_cast<VkPipeline>(pipeline));
  vk_->CmdPushConstants(vk_->commands, vk_->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, launch.param_bytes,
                        launch.params.data());
  vk_->CmdDispatch(vk_->commands, grid.x, grid.y, grid.z);
  CANDOR_RETURN_IF_ERROR(Check(vk_->EndCommandBuffer(vk_->commands), "vkEndCommandBuffer"));
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &vk_->commands;
  CANDOR_RETURN_IF_ERROR(Check(vk_->QueueSubmit(vk_->queue, 1, &submit, vk_->fence), "vkQueueSubmit"));
  CANDOR_RETURN_IF_ERROR(
      Check(vk_->WaitForFences(vk_->device, 1, &vk_->fence, VK_TRUE, kTimeoutNanoseconds), launch.entry.c_str()));
  return Check(vk_->ResetFences(vk_->device, 1, &vk_->fence), "vkResetFences");
}

}  // namespace candor
