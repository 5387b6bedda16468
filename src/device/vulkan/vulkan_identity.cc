#include "device/vulkan/vulkan_identity.h"

#include <algorithm>
#include <cmath>

#include "device/vulkan/cooperative_matrix.h"
#include "device/vulkan/vulkan_features.h"

namespace candor {
namespace {

constexpr uint32_t kNvidiaVendor = 0x10DE;

std::string TypeName(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "cpu";
    default:
      return "other";
  }
}

std::vector<std::string> Extensions(const VulkanInstanceApi& api, VkPhysicalDevice adapter) {
  constexpr uint32_t kMaxExtensions = 4096;
  uint32_t count = 0;
  const VkResult counted = api.vkEnumerateDeviceExtensionProperties(adapter, nullptr, &count, nullptr);
  if (counted != VK_SUCCESS || count > kMaxExtensions) return {};
  std::vector<VkExtensionProperties> rows(count);
  const VkResult listed = api.vkEnumerateDeviceExtensionProperties(adapter, nullptr, &count, rows.data());
  if (listed != VK_SUCCESS && listed != VK_INCOMPLETE) return {};
  rows.resize(std::min<size_t>(rows.size(), count));
  std::vector<std::string> names;
  for (const VkExtensionProperties& row : rows) {
    names.push_back(DriverText(row.extensionName, sizeof(row.extensionName)));
  }
  return names;
}

void ReadHeaps(const VulkanInstance& instance, VkPhysicalDevice adapter, bool has_budget, DeviceInfo& info) {
  auto budget = VulkanStruct<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  auto memory = VulkanStruct<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  if (has_budget) memory.pNext = &budget;
  instance.api().vkGetPhysicalDeviceMemoryProperties2(adapter, &memory);
  const uint32_t count = std::min<uint32_t>(memory.memoryProperties.memoryHeapCount, VK_MAX_MEMORY_HEAPS);
  for (uint32_t i = 0; i < count; ++i) {
    const VkMemoryHeap& row = memory.memoryProperties.memoryHeaps[i];
    MemoryHeap heap{row.size, 0, (row.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0};
    if (has_budget) {
      const uint64_t allowed = std::min<uint64_t>(budget.heapBudget[i], row.size);
      heap.available = allowed - std::min<uint64_t>(allowed, budget.heapUsage[i]);
    }
    info.gpu.heaps.push_back(heap);
    // The largest heap on the device; a second one is often a window into the first.
    if (heap.device_local && heap.size > info.memory_total) {
      info.memory_total = heap.size;
      info.memory_available = heap.available;
    }
  }
}

void ReadPci(const VulkanInstance& instance, VkPhysicalDevice adapter, GpuIdentity& gpu) {
  auto pci = VulkanStruct<VkPhysicalDevicePCIBusInfoPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT);
  auto properties = VulkanStruct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &pci;
  instance.api().vkGetPhysicalDeviceProperties2(adapter, &properties);
  gpu.pci = fmt::format("{:04x}:{:02x}:{:02x}.{}", pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction);
}

void ReadBasics(const VkPhysicalDeviceProperties& properties, DeviceInfo& info) {
  info.name = DriverText(properties.deviceName, sizeof(properties.deviceName));
  GpuIdentity& gpu = info.gpu;
  gpu.vendor_id = properties.vendorID;
  gpu.device_id = properties.deviceID;
  gpu.device_type = TypeName(properties.deviceType);
  gpu.api_version = FormatVulkanVersion(properties.apiVersion);
  gpu.driver_version = FormatDriverVersion(properties.vendorID, properties.driverVersion);
  const VkPhysicalDeviceLimits& limits = properties.limits;
  gpu.limits.max_storage_buffer = limits.maxStorageBufferRange;
  gpu.limits.max_workgroup_invocations = limits.maxComputeWorkGroupInvocations;
  gpu.limits.max_workgroup_count = limits.maxComputeWorkGroupCount[0];
  gpu.limits.shared_memory = limits.maxComputeSharedMemorySize;
  gpu.limits.max_push_constants = limits.maxPushConstantsSize;
  gpu.timestamp_period = std::isfinite(limits.timestampPeriod) ? static_cast<double>(limits.timestampPeriod) : 0.0;
}

void ReadProperties(const VulkanCapabilities& c, GpuIdentity& gpu) {
  gpu.uuid = FormatUuid(c.properties11.deviceUUID);
  gpu.driver_uuid = FormatUuid(c.properties11.driverUUID);
  if (c.properties11.deviceLUIDValid != 0) {
    for (const uint8_t byte : c.properties11.deviceLUID) gpu.luid += fmt::format("{:02x}", byte);
  }
  gpu.driver_id = static_cast<uint32_t>(c.properties12.driverID);
  gpu.driver_name = DriverText(c.properties12.driverName, sizeof(c.properties12.driverName));
  gpu.driver_info = DriverText(c.properties12.driverInfo, sizeof(c.properties12.driverInfo));
  const VkConformanceVersion& conformance = c.properties12.conformanceVersion;
  gpu.conformance_version =
      fmt::format("{}.{}.{}.{}", conformance.major, conformance.minor, conformance.subminor, conformance.patch);
  gpu.subgroup_size = c.properties11.subgroupSize;
  gpu.subgroup_min = c.properties13.minSubgroupSize;
  gpu.subgroup_max = c.properties13.maxSubgroupSize;
  gpu.limits.max_allocation = c.properties11.maxMemoryAllocationSize;
  gpu.limits.max_buffer = c.properties13.maxBufferSize;
}

}  // namespace

std::string FormatDriverVersion(uint32_t vendor_id, uint32_t version) {
  if (vendor_id != kNvidiaVendor) return FormatVulkanVersion(version);
  return fmt::format("{}.{}.{}.{}", version >> 22, (version >> 14) & 0xFF, (version >> 6) & 0xFF, version & 0x3F);
}

DeviceInfo IdentifyVulkanAdapter(const VulkanInstance& instance, VkPhysicalDevice adapter) {
  DeviceInfo info;
  info.kind = DeviceKind::kVulkan;
  VkPhysicalDeviceProperties basics = {};
  instance.api().vkGetPhysicalDeviceProperties(adapter, &basics);
  ReadBasics(basics, info);
  VulkanCapabilities capabilities;
  capabilities.extensions = Extensions(instance.api(), adapter);
  ReadHeaps(instance, adapter, capabilities.HasExtension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME), info);
  if (capabilities.HasExtension(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) ReadPci(instance, adapter, info.gpu);
  if (basics.apiVersion < kMinVulkanVersion) {
    info.gpu.missing.push_back(fmt::format("Vulkan {}", FormatVulkanVersion(kMinVulkanVersion)));
  } else {
    instance.api().vkGetPhysicalDeviceProperties2(adapter, &capabilities.properties);
    instance.api().vkGetPhysicalDeviceFeatures2(adapter, &capabilities.features);
    ReadProperties(capabilities, info.gpu);
    info.features = PresentFeatures(capabilities);
    info.gpu.missing = MissingFeatures(capabilities);
  }
  if (capabilities.HasExtension("VK_KHR_cooperative_matrix")) {
    info.gpu.cooperative_matrix = CooperativeMatrixShapes(instance, adapter);
  }
  info.software_reason = SoftwareTellTale(info.name, info.gpu);
  info.software = !info.software_reason.empty();
  return info;
}

}  // namespace candor
