#include "device/vulkan/vulkan_instance.h"

#include <algorithm>
#include <utility>

#include "device/vulkan/vulkan_identity.h"

namespace candor {

Result<VulkanInstance> VulkanInstance::Create(const VulkanLoader& loader) {
  if (loader.version() < kMinVulkanVersion) {
    return FailedPreconditionError(
        "{}: expected a Vulkan loader of version {} or newer, got {}; install a newer libvulkan1", loader.path(),
        FormatVulkanVersion(kMinVulkanVersion), FormatVulkanVersion(loader.version()));
  }
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(loader.get()(nullptr, "vkCreateInstance"));
  if (create == nullptr)
    return UnavailableError("{}: it has no vkCreateInstance; install libvulkan1 again", loader.path());
  auto application = VulkanStruct<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "candor";
  application.pEngineName = "candor";
  application.apiVersion = kMinVulkanVersion;
  auto info = VulkanStruct<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  VulkanInstance instance;
  instance.get_ = loader.get();
  CANDOR_RETURN_IF_VULKAN_ERROR("vkCreateInstance", create(&info, nullptr, &instance.handle_));
  CANDOR_ASSIGN_OR_RETURN(instance.api_, LoadInstanceApi(loader.get(), instance.handle_));
  return instance;
}

VulkanInstance::VulkanInstance(VulkanInstance&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), get_(other.get_), api_(other.api_) {}

VulkanInstance::~VulkanInstance() {
  if (handle_ != VK_NULL_HANDLE && api_.vkDestroyInstance != nullptr) api_.vkDestroyInstance(handle_, nullptr);
}

Result<std::vector<VulkanAdapter>> VulkanInstance::ListAdapters() const {
  constexpr uint32_t kMaxAdapters = 256;  // a count beyond it is no machine but a broken driver
  uint32_t count = 0;
  CANDOR_RETURN_IF_VULKAN_ERROR("vkEnumeratePhysicalDevices",
                                api_.vkEnumeratePhysicalDevices(handle_, &count, nullptr));
  if (count > kMaxAdapters) {
    return UnavailableError(
        "vulkan vkEnumeratePhysicalDevices: expected at most {} devices, got {}; a driver is broken", kMaxAdapters,
        count);
  }
  std::vector<VkPhysicalDevice> handles(count);
  const VkResult result = api_.vkEnumeratePhysicalDevices(handle_, &count, handles.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return VulkanError("vkEnumeratePhysicalDevices", result);
  handles.resize(std::min<size_t>(handles.size(), count));
  std::erase(handles, VkPhysicalDevice{VK_NULL_HANDLE});
  std::vector<VulkanAdapter> adapters;
  for (const VkPhysicalDevice handle : handles) {
    DeviceInfo info = IdentifyVulkanAdapter(*this, handle);
    info.index = static_cast<int>(adapters.size());
    adapters.push_back({handle, std::move(info)});
  }
  return adapters;
}

}  // namespace candor
