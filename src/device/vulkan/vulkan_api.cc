#include "device/vulkan/vulkan_api.h"

namespace candor {
namespace {

struct ResultName {
  VkResult result;
  std::string_view name;
  StatusCode code;
};

constexpr ResultName kResultNames[] = {
    {VK_NOT_READY, "VK_NOT_READY", StatusCode::kUnavailable},
    {VK_TIMEOUT, "VK_TIMEOUT", StatusCode::kDeadlineExceeded},
    {VK_INCOMPLETE, "VK_INCOMPLETE", StatusCode::kUnavailable},
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", StatusCode::kResourceExhausted},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY", StatusCode::kResourceExhausted},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED", StatusCode::kUnavailable},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST", StatusCode::kUnavailable},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", StatusCode::kUnavailable},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT", StatusCode::kFailedPrecondition},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", StatusCode::kFailedPrecondition},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", StatusCode::kFailedPrecondition},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER", StatusCode::kUnavailable},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", StatusCode::kResourceExhausted},
    {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN", StatusCode::kUnavailable},
};

const ResultName* Find(VkResult result) {
  for (const ResultName& row : kResultNames) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

Status Missing(const char* function) {
  return UnavailableError(
      "vulkan {}: expected this function of Vulkan 1.2, got none; install a newer loader and driver", function);
}

}  // namespace

std::string_view VulkanResultName(VkResult result) {
  const ResultName* row = Find(result);
  return row == nullptr ? "an unknown VkResult" : row->name;
}

Status VulkanError(std::string_view where, VkResult result) {
  const ResultName* row = Find(result);
  return Status(row == nullptr ? StatusCode::kUnavailable : row->code,
                fmt::format("vulkan {}: {} ({})", where, VulkanResultName(result), static_cast<int>(result)));
}

Result<VulkanInstanceApi> LoadInstanceApi(PFN_vkGetInstanceProcAddr get, VkInstance instance) {
  VulkanInstanceApi api;
#define CANDOR_VULKAN_LOAD(name)                                 \
  api.name = reinterpret_cast<PFN_##name>(get(instance, #name)); \
  if (api.name == nullptr) return Missing(#name);
  CANDOR_VULKAN_INSTANCE_FUNCTIONS(CANDOR_VULKAN_LOAD)
#undef CANDOR_VULKAN_LOAD
  return api;
}

Result<VulkanDeviceApi> LoadDeviceApi(PFN_vkGetDeviceProcAddr get, VkDevice device) {
  VulkanDeviceApi api;
#define CANDOR_VULKAN_LOAD(name)                               \
  api.name = reinterpret_cast<PFN_##name>(get(device, #name)); \
  if (api.name == nullptr) return Missing(#name);
  CANDOR_VULKAN_DEVICE_FUNCTIONS(CANDOR_VULKAN_LOAD)
#undef CANDOR_VULKAN_LOAD
  return api;
}

Result<VulkanComputeApi> LoadComputeApi(PFN_vkGetDeviceProcAddr get, VkDevice device) {
  VulkanComputeApi api;
#define CANDOR_VULKAN_LOAD(name)                               \
  api.name = reinterpret_cast<PFN_##name>(get(device, #name)); \
  if (api.name == nullptr) return Missing(#name);
  CANDOR_VULKAN_COMPUTE_FUNCTIONS(CANDOR_VULKAN_LOAD)
#undef CANDOR_VULKAN_LOAD
  return api;
}

Result<VulkanLoader> VulkanLoader::Open(const std::string& name) {
  VulkanLoader loader;
  CANDOR_ASSIGN_OR_RETURN(loader.library_, DynamicLibrary::Open(name));
  loader.get_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(loader.library_.Symbol("vkGetInstanceProcAddr"));
  if (loader.get_ == nullptr) return Missing("vkGetInstanceProcAddr").WithContext(loader.path());
  const auto version =
      reinterpret_cast<PFN_vkEnumerateInstanceVersion>(loader.get_(nullptr, "vkEnumerateInstanceVersion"));
  if (version != nullptr) CANDOR_RETURN_IF_VULKAN_ERROR("vkEnumerateInstanceVersion", version(&loader.version_));
  return loader;
}

std::string FormatVulkanVersion(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

}  // namespace candor
