// A Vulkan driver of a GPU that does not exist: as small as the loader and a probe allow. It keeps buffers in host
// memory, runs copies when they are recorded, and crashes, hangs, lies or fails at the place that CANDOR_FAKE_DRIVER
// names.
#pragma once

#include <vulkan/vk_icd.h>

#include <cstddef>
#include <string_view>

#include "misbehave.h"

namespace candor::fake {

// The function of a name, of the instance or of the device; null for what this driver lacks.
PFN_vkVoidFunction FindFunction(std::string_view name);
PFN_vkVoidFunction FindDeviceFunction(std::string_view name);

// Dispatchable objects begin with the loader's own data.
struct Dispatchable {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
};

}  // namespace candor::fake
