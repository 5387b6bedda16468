#include "kernels/lib/gpu_program.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace candor {
namespace {

constexpr uint32_t kDotProductCapability = 6019;  // SPIR-V: DotProduct

static_assert(kMaxGpuParamBytes == kMaxGpuParameterBytes, "a launch's parameters fit in a dispatch");

bool HasFeature(const DeviceInfo& info, std::string_view name) {
  return std::find(info.features.begin(), info.features.end(), name) != info.features.end();
}

// "9.0" as 9 and 0.
std::pair<uint32_t, uint32_t> ComputeCapability(const DeviceInfo& info) {
  const std::string& text = info.gpu.compute_capability;
  char* end = nullptr;
  const auto major = static_cast<uint32_t>(std::strtoul(text.c_str(), &end, 10));
  return {major, *end == '.' ? static_cast<uint32_t>(std::strtoul(end + 1, nullptr, 10)) : 0};
}

const GpuBinary* BinaryFor(const GpuModule& module, const DeviceInfo& info) {
  if (info.kind == DeviceKind::kVulkan) return VulkanBinary(module);
  const auto [major, minor] = ComputeCapability(info);
  return CudaBinary(module, major, minor);
}

// Cubins of these architectures are built with kernels that wait for their inputs (tools/gpu_kernels/nvrtc.py).
GpuStart StartOf(const GpuBinary& binary) {
  constexpr uint32_t kEarlyStart = 90;
  const bool early = binary.target == GpuTarget::kCubin && binary.architecture >= kEarlyStart;
  return early ? GpuStart::kEarly : GpuStart::kWhenAllIsDone;
}

Status NoKernel(const std::string& name, const DeviceInfo& info) {
  return UnimplementedError(
      "GPU kernel {}: expected one for {} ({}{}{}), got none in this build; run on another device, such as -d cpu",
      name, DeviceId(info), info.name, info.gpu.compute_capability.empty() ? "" : ", compute capability ",
      info.gpu.compute_capability);
}

}  // namespace

bool GpuProgram::has_int8_products() const {
  return HasFeature(device_.info(), "shaderIntegerDotProduct") || HasFeature(device_.info(), "int8DotProduct");
}

Result<GpuModuleId> GpuProgram::ModuleOf(const GpuModule& module) {
  const auto known = modules_.find(module.name);
  if (known != modules_.end()) return known->second;
  const DeviceInfo& info = device_.info();
  const GpuBinary* binary = BinaryFor(module, info);
  if (binary == nullptr) return NoKernel(std::string(module.name), info);
  const bool needs_dot =
      info.kind == DeviceKind::kVulkan && std::find(module.spirv_capabilities.begin(), module.spirv_capabilities.end(),
                                                    kDotProductCapability) != module.spirv_capabilities.end();
  if (needs_dot && !has_int8_products()) return NoKernel(std::string(module.name), info);
  CANDOR_ASSIGN_OR_RETURN(const std::vector<std::byte> code, UnpackGpuBinary(*binary));
  CANDOR_ASSIGN_OR_RETURN(const GpuModuleId id, device_.LoadModule(module.name, code, StartOf(*binary)));
  modules_.emplace(module.name, id);
  return id;
}

Result<GpuKernelId> GpuProgram::KernelOf(const GpuLaunch& launch) {
  const std::string name = launch.module + "/" + launch.entry;
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  const GpuModule* module = FindGpuModule(launch.module);
  const GpuEntry* entry = module == nullptr ? nullptr : FindGpuEntry(*module, launch.entry);
  if (entry == nullptr) return NoKernel(name, device_.info());
  CANDOR_ASSIGN_OR_RETURN(const GpuModuleId id, ModuleOf(*module));
  CANDOR_ASSIGN_OR_RETURN(const GpuKernelId kernel, device_.LoadKernel(id, entry->name, entry->threads));
  kernels_.emplace(name, kernel);
  return kernel;
}

Result<GpuDispatch> GpuProgram::Dispatch(const GpuLaunch& launch) {
  const GpuGrid& grid = launch.grid;
  const auto fits = [](uint32_t groups) { return groups > 0 && groups <= kMaxGroups; };
  CANDOR_CHECK(fits(grid.x) && fits(grid.y) && fits(grid.z), launch.entry);
  GpuDispatch dispatch;
  CANDOR_ASSIGN_OR_RETURN(dispatch.kernel, KernelOf(launch));
  dispatch.grid = {grid.x, grid.y, grid.z};
  dispatch.parameter_bytes = launch.param_bytes;
  dispatch.parameters = launch.params;
  return dispatch;
}

}  // namespace candor
