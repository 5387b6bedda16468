#include "device/cuda/cuda_driver.h"

#include <utility>

#include "base/printable.h"

namespace candor {
namespace {

constexpr size_t kNameSize = 256;

int Attribute(const CudaApi& api, int attribute, CudaDeviceHandle device) {
  int value = 0;
  return api.device_attribute(&value, attribute, device) == kCudaSuccess && value > 0 ? value : 0;
}

void ReadLimits(const CudaApi& api, CudaDeviceHandle device, GpuIdentity& gpu) {
  gpu.subgroup_size = gpu.subgroup_min = gpu.subgroup_max =
      static_cast<uint32_t>(Attribute(api, kCudaWarpSize, device));
  gpu.limits.max_workgroup_invocations = static_cast<uint32_t>(Attribute(api, kCudaMaxThreadsPerBlock, device));
  gpu.limits.max_workgroup_count = static_cast<uint32_t>(Attribute(api, kCudaMaxGridX, device));
  gpu.limits.shared_memory = static_cast<uint32_t>(Attribute(api, kCudaSharedMemoryOptIn, device));
  if (gpu.limits.shared_memory == 0)
    gpu.limits.shared_memory = static_cast<uint32_t>(Attribute(api, kCudaSharedMemoryPerBlock, device));
}

// What the hardware has by its compute capability (CUDA C++ Programming Guide, table of compute capabilities).
void ReadCapability(const CudaApi& api, CudaDeviceHandle device, DeviceInfo& info) {
  const int major = Attribute(api, kCudaComputeMajor, device);
  const int minor = Attribute(api, kCudaComputeMinor, device);
  const int capability = major * 10 + minor;
  info.gpu.compute_capability = fmt::format("{}.{}", major, minor);
  if (capability < kMinComputeCapability) {
    info.gpu.missing.push_back(
        fmt::format("compute capability {}.{}", kMinComputeCapability / 10, kMinComputeCapability % 10));
  }
  if (capability >= 53) info.features.emplace_back("float16");
  if (capability >= 61) info.features.emplace_back("int8DotProduct");
  if (capability >= 70) info.features.emplace_back("tensorCores");
  if (capability >= 80) info.features.emplace_back("bfloat16");
  if (capability >= 90) info.features.emplace_back("wgmma");
}

}  // namespace

Result<CudaDriver> CudaDriver::Start(CudaLibrary library) {
  CudaDriver driver(std::move(library));
  CANDOR_RETURN_IF_CUDA_ERROR(driver.api(), "cuDriverGetVersion", driver.api().driver_version(&driver.version_));
  CANDOR_RETURN_IF_CUDA_ERROR(driver.api(), "cuInit", driver.api().init(0));
  return driver;
}

Result<std::vector<DeviceInfo>> CudaDriver::ListDevices() const {
  constexpr int kMaxDevices = 256;  // a count beyond it is no machine but a broken driver
  int count = 0;
  CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDeviceGetCount", api().device_count(&count));
  if (count < 0 || count > kMaxDevices)
    return UnavailableError("cuda cuDeviceGetCount: expected at most {} devices, got {}; the driver is broken",
                            kMaxDevices, count);
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    DeviceInfo info;
    info.kind = DeviceKind::kCuda;
    info.index = i;
    CudaDeviceHandle device = 0;
    CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDeviceGet", api().device_get(&device, i));
    char text[kNameSize] = {};
    CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDeviceGetName", api().device_name(text, sizeof(text), device));
    info.name = DriverText(text, sizeof(text));
    CudaUuid uuid = {};
    CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDeviceGetUuid", api().device_uuid(&uuid, device));
    info.gpu.uuid = FormatUuid(uuid.bytes);
    size_t total = 0;
    CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDeviceTotalMem", api().device_memory(&total, device));
    info.memory_total = total;
    char pci[kNameSize] = {};
    if (api().device_pci(pci, sizeof(pci), device) == kCudaSuccess) info.gpu.pci = DriverText(pci, sizeof(pci));
    info.gpu.vendor_id = 0x10DE;
    info.gpu.device_type = Attribute(api(), kCudaIntegrated, device) != 0 ? "integrated" : "discrete";
    info.gpu.driver_name = "CUDA";
    info.gpu.api_version = fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
    ReadLimits(api(), device, info.gpu);
    ReadCapability(api(), device, info);
    devices.push_back(std::move(info));
  }
  return devices;
}

Result<std::unique_ptr<CudaMemoryCheck>> CudaMemoryCheck::Create(const CudaDriver& driver, int index) {
  const CudaApi& api = driver.api();
  CudaDeviceHandle device = 0;
  CANDOR_RETURN_IF_CUDA_ERROR(api, "cuDeviceGet", api.device_get(&device, index));
  std::unique_ptr<CudaMemoryCheck> check(new CudaMemoryCheck(api, device));
  CudaContextHandle context = nullptr;
  CANDOR_RETURN_IF_CUDA_ERROR(api, "cuDevicePrimaryCtxRetain", api.context_retain(&context, device));
  check->retained_ = true;
  CANDOR_RETURN_IF_CUDA_ERROR(api, "cuCtxSetCurrent", api.context_set(context));
  return check;
}

CudaMemoryCheck::~CudaMemoryCheck() {
  if (first_ != 0) api_.memory_free(first_);
  if (second_ != 0) api_.memory_free(second_);
  if (!retained_) return;
  api_.context_set(nullptr);
  api_.context_release(device_);
}

Result<uint64_t> CudaMemoryCheck::FreeMemory() const {
  size_t available = 0;
  size_t total = 0;
  CANDOR_RETURN_IF_CUDA_ERROR(api_, "cuMemGetInfo", api_.memory_info(&available, &total));
  return uint64_t{available};
}

Status CudaMemoryCheck::Copy(uint64_t bytes, std::vector<uint32_t>& values) {
  const std::string what = fmt::format("cuMemAlloc of {}", FormatBytes(bytes));
  CANDOR_RETURN_IF_CUDA_ERROR(api_, what, api_.memory_allocate(&first_, bytes));
  CANDOR_RETURN_IF_CUDA_ERROR(api_, what, api_.memory_allocate(&second_, bytes));
  CANDOR_RETURN_IF_CUDA_ERROR(api_, "cuMemcpyHtoD", api_.copy_to_device(first_, values.data(), bytes));
  CANDOR_RETURN_IF_CUDA_ERROR(api_, "cuMemcpyDtoD", api_.copy_on_device(second_, first_, bytes));
  values.assign(values.size(), 0);
  CANDOR_RETURN_IF_CUDA_ERROR(api_, "cuMemcpyDtoH", api_.copy_to_host(values.data(), second_, bytes));
  return OkStatus();
}

Status CudaMemoryCheck::RoundTrip(uint64_t bytes) {
  // Never zero, so that memory which was not written is seen.
  const auto pattern = [](size_t index) { return static_cast<uint32_t>(index * 2654435761u) | 1u; };
  std::vector<uint32_t> values(bytes / sizeof(uint32_t));
  for (size_t i = 0; i < values.size(); ++i) values[i] = pattern(i);
  CANDOR_RETURN_IF_ERROR(Copy(bytes, values));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != pattern(i)) {
      return DataLossError(
          "cuda: expected the {} that were copied to the device and back, got another value at byte {}; "
          "the driver or the device is broken",
          FormatBytes(bytes), i * sizeof(uint32_t));
    }
  }
  return OkStatus();
}

}  // namespace candor
