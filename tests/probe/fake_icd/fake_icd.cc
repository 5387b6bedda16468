#include "fake_icd.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace candor::fake {
namespace {

constexpr VkDeviceSize kHeapBytes = VkDeviceSize{8} << 30;

Dispatchable* TheInstance() {
  static Dispatchable instance;  // NOLINT: the loader writes into it
  return &instance;
}
Dispatchable* Adapter(uint32_t index) {
  static Dispatchable adapters[2];  // NOLINT: the loader writes into it
  return &adapters[index];
}

// "enumerate:vanish": the GPU that was listed is gone when it is tried, and another one is in its place.
bool Vanished() {
  if (FaultAt("enumerate") != "vanish") return false;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return words.find("--adapter") != std::string::npos;
}

uint32_t AdapterCount() {
  const std::string fault = FaultAt("enumerate");
  if (fault == "none") return 0;
  return fault == "twins" ? 2 : 1;
}

VkResult CreateInstance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*, VkInstance* instance) {
  if (Misbehave("enumerate")) return VK_ERROR_INITIALIZATION_FAILED;
  *instance = reinterpret_cast<VkInstance>(TheInstance());
  return VK_SUCCESS;
}

void DestroyInstance(VkInstance, const VkAllocationCallbacks*) { Misbehave("destroy"); }

VkResult EnumeratePhysicalDevices(VkInstance, uint32_t* count, VkPhysicalDevice* devices) {
  const uint32_t have = AdapterCount();
  if (devices != nullptr) {
    for (uint32_t i = 0; i < have && i < *count; ++i) devices[i] = reinterpret_cast<VkPhysicalDevice>(Adapter(i));
  }
  *count = have;
  return VK_SUCCESS;
}

VkResult EnumerateExtensions(VkPhysicalDevice, const char*, uint32_t* count, VkExtensionProperties* rows) {
  const char* names[] = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME};
  for (uint32_t i = 0; rows != nullptr && i < *count && i < 2; ++i) {
    rows[i] = {};
    strncpy(rows[i].extensionName, names[i], sizeof(rows[i].extensionName) - 1);
  }
  *count = 2;
  return VK_SUCCESS;
}

VkResult EnumerateInstanceExtensions(const char*, uint32_t* count, VkExtensionProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

void GetProperties(VkPhysicalDevice adapter, VkPhysicalDeviceProperties* p) {
  *p = {};
  p->apiVersion = FaultAt("enumerate") == "old" ? VK_MAKE_API_VERSION(0, 1, 1, 100) : VK_MAKE_API_VERSION(0, 1, 3, 230);
  p->driverVersion = VK_MAKE_API_VERSION(0, 1, 2, 3);
  p->vendorID = 0x1FA4;
  p->deviceID = 0x0042;
  p->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  strcpy(p->deviceName, "Fake GPU");
  p->limits.maxComputeSharedMemorySize = 49152;
  p->limits.maxPushConstantsSize = 256;
  p->limits.maxStorageBufferRange = 1u << 30;
  p->limits.timestampPeriod = 1.0f;
  p->limits.timestampComputeAndGraphics = VK_TRUE;
  const std::string fault = FaultAt("enumerate");
  if (fault == "software") p->deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
  // A name without an end, full of what drives terminals and is no UTF-8.
  if (fault == "garbage") memset(p->deviceName, '\xFF', sizeof(p->deviceName));
  if (fault == "garbage") memcpy(p->deviceName, "\x1b[2J", 4);
  static_cast<void>(adapter);
}

void FillProperties11(VkPhysicalDevice adapter, VkPhysicalDeviceVulkan11Properties* p) {
  for (uint8_t i = 0; i < VK_UUID_SIZE; ++i) p->deviceUUID[i] = static_cast<uint8_t>(0xA0 + i);
  if (adapter == reinterpret_cast<VkPhysicalDevice>(Adapter(1))) p->deviceUUID[15] = 0x01;
  if (Vanished()) p->deviceUUID[0] = 0x00;
  p->subgroupSize = FaultAt("enumerate") == "lacking" ? 2 : 32;
  p->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  p->subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  p->maxMemoryAllocationSize = kHeapBytes;
}

void GetProperties2(VkPhysicalDevice adapter, VkPhysicalDeviceProperties2* properties) {
  GetProperties(adapter, &properties->properties);
  for (auto* next = static_cast<VkBaseOutStructure*>(properties->pNext); next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
      FillProperties11(adapter, reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(next));
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
      auto* p = reinterpret_cast<VkPhysicalDeviceVulkan12Properties*>(next);
      p->driverID = static_cast<VkDriverId>(9999);
      strcpy(p->driverName, "fake");
      strcpy(p->driverInfo, "Fake driver 1.2.3");
      p->conformanceVersion = {1, 3, 0, 0};
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT) {
      auto* p = reinterpret_cast<VkPhysicalDevicePCIBusInfoPropertiesEXT*>(next);
      p->pciBus = 0x17;
    }
  }
}

void GetFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* features) {
  features->features.shaderInt64 = features->features.shaderInt16 = VK_TRUE;
  const VkBool32 address = FaultAt("enumerate") == "lacking" ? VK_FALSE : VK_TRUE;
  for (auto* next = static_cast<VkBaseOutStructure*>(features->pNext); next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      reinterpret_cast<VkPhysicalDeviceVulkan11Features*>(next)->storageBuffer16BitAccess = VK_TRUE;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      auto* f = reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(next);
      f->bufferDeviceAddress = address;
      f->shaderInt8 = f->storageBuffer8BitAccess = f->scalarBlockLayout = f->timelineSemaphore = VK_TRUE;
      f->shaderFloat16 = VK_TRUE;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
      auto* f = reinterpret_cast<VkPhysicalDeviceVulkan13Features*>(next);
      f->synchronization2 = f->maintenance4 = VK_TRUE;
    }
  }
}

void GetMemory2(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties2* memory) {
  VkPhysicalDeviceMemoryProperties& p = memory->memoryProperties;
  p = {};
  p.memoryHeapCount = FaultAt("enumerate") == "garbage" ? 0xFFFFFFFFu : 1;  // more heaps than there can be
  p.memoryHeaps[0] = {kHeapBytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  p.memoryTypeCount = 1;
  p.memoryTypes[0].propertyFlags =
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (auto* next = static_cast<VkBaseOutStructure*>(memory->pNext); next != nullptr; next = next->pNext) {
    if (next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) continue;
    auto* budget = reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(next);
    budget->heapBudget[0] = kHeapBytes;
    budget->heapUsage[0] = VkDeviceSize{1} << 30;
  }
}

void GetQueueFamilies(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties* rows) {
  if (rows != nullptr && *count > 0) rows[0] = {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 1, 64, {1, 1, 1}};
  *count = 1;
}

// The loader takes no driver without these functions of Vulkan 1.0, which a compute device has nothing to say to.
void GetFeatures(VkPhysicalDevice adapter, VkPhysicalDeviceFeatures* features) {
  VkPhysicalDeviceFeatures2 all = {};
  GetFeatures2(adapter, &all);
  *features = all.features;
}
void GetMemory(VkPhysicalDevice adapter, VkPhysicalDeviceMemoryProperties* memory) {
  VkPhysicalDeviceMemoryProperties2 all = {};
  GetMemory2(adapter, &all);
  *memory = all.memoryProperties;
}
void GetFormat(VkPhysicalDevice, VkFormat, VkFormatProperties* format) { *format = {}; }
VkResult GetImageFormat(VkPhysicalDevice, VkFormat, VkImageType, VkImageTiling, VkImageUsageFlags, VkImageCreateFlags,
                        VkImageFormatProperties*) {
  return VK_ERROR_FORMAT_NOT_SUPPORTED;
}
void GetSparseImageFormats(VkPhysicalDevice, VkFormat, VkImageType, VkSampleCountFlagBits, VkImageUsageFlags,
                           VkImageTiling, uint32_t* count, VkSparseImageFormatProperties*) {
  *count = 0;
}

PFN_vkVoidFunction GetInstanceFunction(VkInstance, const char* name) { return FindFunction(name); }
PFN_vkVoidFunction GetDeviceFunction(VkDevice, const char* name) { return FindDeviceFunction(name); }

struct Entry {
  std::string_view name;
  PFN_vkVoidFunction function;
};

template <typename Function>
PFN_vkVoidFunction Erase(Function* function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

}  // namespace

PFN_vkVoidFunction FindFunction(std::string_view name) {
  const Entry entries[] = {
      {"vkCreateInstance", Erase(CreateInstance)},
      {"vkDestroyInstance", Erase(DestroyInstance)},
      {"vkEnumerateInstanceExtensionProperties", Erase(EnumerateInstanceExtensions)},
      {"vkEnumeratePhysicalDevices", Erase(EnumeratePhysicalDevices)},
      {"vkEnumerateDeviceExtensionProperties", Erase(EnumerateExtensions)},
      {"vkGetPhysicalDeviceProperties", Erase(GetProperties)},
      {"vkGetPhysicalDeviceProperties2", Erase(GetProperties2)},
      {"vkGetPhysicalDeviceFeatures", Erase(GetFeatures)},
      {"vkGetPhysicalDeviceFeatures2", Erase(GetFeatures2)},
      {"vkGetPhysicalDeviceMemoryProperties", Erase(GetMemory)},
      {"vkGetPhysicalDeviceFormatProperties", Erase(GetFormat)},
      {"vkGetPhysicalDeviceImageFormatProperties", Erase(GetImageFormat)},
      {"vkGetPhysicalDeviceSparseImageFormatProperties", Erase(GetSparseImageFormats)},
      {"vkGetPhysicalDeviceMemoryProperties2", Erase(GetMemory2)},
      {"vkGetPhysicalDeviceQueueFamilyProperties", Erase(GetQueueFamilies)},
      {"vkGetInstanceProcAddr", Erase(GetInstanceFunction)},
      {"vkGetDeviceProcAddr", Erase(GetDeviceFunction)},
  };
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.function;
  }
  return FindDeviceFunction(name);
}

namespace {

struct AtOpenAndExit {
  AtOpenAndExit() { Misbehave("open"); }
  ~AtOpenAndExit() { Misbehave("exit"); }
};
const AtOpenAndExit kAtOpenAndExit;

}  // namespace
}  // namespace candor::fake

// The three symbols that the loader looks for (LoaderDriverInterface, version 5).
extern "C" {
__attribute__((visibility("default"))) VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  candor::fake::Misbehave("negotiate");
  *version = 5;
  return VK_SUCCESS;
}
__attribute__((visibility("default"))) PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance, const char* name) {
  return candor::fake::FindFunction(name);
}
__attribute__((visibility("default"))) PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance, const char*) {
  return nullptr;
}
}
