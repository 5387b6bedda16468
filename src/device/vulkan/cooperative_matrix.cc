#include "device/vulkan/cooperative_matrix.h"

#include <algorithm>

namespace candor {
namespace {

// VK_KHR_cooperative_matrix is younger than the Vulkan headers of Debian 12 (1.3.239), so its structure and numbers are
// written here, from the Vulkan specification and registry.
struct CooperativeMatrixProperties {
  VkStructureType type;
  void* next;
  uint32_t m;
  uint32_t n;
  uint32_t k;
  int32_t a_type;
  int32_t b_type;
  int32_t c_type;
  int32_t result_type;
  VkBool32 saturating;
  int32_t scope;
};
constexpr auto kPropertiesType = static_cast<VkStructureType>(1000506001);
using GetProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, CooperativeMatrixProperties*);

struct Name {
  int32_t value;
  const char* name;
};
constexpr Name kTypes[] = {{0, "f16"}, {1, "f32"}, {2, "f64"}, {3, "i8"},  {4, "i16"},  {5, "i32"},
                           {6, "i64"}, {7, "u8"},  {8, "u16"}, {9, "u32"}, {10, "u64"}, {1000141000, "bf16"}};
constexpr Name kScopes[] = {{1, "device"}, {2, "workgroup"}, {3, "subgroup"}, {5, "queue family"}};

template <size_t kCount>
std::string NameOf(const Name (&names)[kCount], int32_t value) {
  for (const Name& row : names) {
    if (row.value == value) return row.name;
  }
  return fmt::format("type {}", value);
}

}  // namespace

std::vector<std::string> CooperativeMatrixShapes(const VulkanInstance& instance, VkPhysicalDevice adapter) {
  constexpr uint32_t kMaxShapes = 1024;
  const auto get =
      reinterpret_cast<GetProperties>(instance.Function("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  uint32_t count = 0;
  if (get == nullptr || get(adapter, &count, nullptr) != VK_SUCCESS || count > kMaxShapes) return {};
  CooperativeMatrixProperties empty = {};
  empty.type = kPropertiesType;
  std::vector<CooperativeMatrixProperties> rows(count, empty);
  const VkResult result = get(adapter, &count, rows.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return {};
  rows.resize(std::min<size_t>(rows.size(), count));
  std::vector<std::string> shapes;
  for (const CooperativeMatrixProperties& row : rows) {
    std::string shape = fmt::format("{}x{}x{} {},{},{},{} {}", row.m, row.n, row.k, NameOf(kTypes, row.a_type),
                                    NameOf(kTypes, row.b_type), NameOf(kTypes, row.c_type),
                                    NameOf(kTypes, row.result_type), NameOf(kScopes, row.scope));
    if (row.saturating == 0) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace candor
