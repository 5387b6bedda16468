#include "gpu_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "device/cuda/cuda_driver.h"
#include "device/gpu_device.h"
#include "device/vulkan/vulkan_instance.h"
#include "kernels/lib/gpu_program.h"

namespace candor {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr std::byte kGuard{0xa5};

// A device with its kernels, and what the running case has allocated on it.
struct TestDevice {
  std::unique_ptr<GpuDevice> device;
  std::unique_ptr<GpuProgram> program;
  std::vector<std::unique_ptr<GpuBuffer>> buffers;
};

Result<DeviceInfo> FindCudaDevice() {
  CANDOR_ASSIGN_OR_RETURN(CudaLibrary library, CudaLibrary::Open());
  CANDOR_ASSIGN_OR_RETURN(const CudaDriver driver, CudaDriver::Start(std::move(library)));
  CANDOR_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> devices, driver.ListDevices());
  if (devices.empty()) return UnavailableError("cuda: expected a device, got none");
  return devices.front();
}

// Hardware before software, which is allowed here by name.
Result<DeviceInfo> FindVulkanDevice() {
  CANDOR_ASSIGN_OR_RETURN(const VulkanLoader loader, VulkanLoader::Open());
  auto instance = VulkanInstance::Create(loader);
  if (!instance.ok()) return instance.status();
  CANDOR_ASSIGN_OR_RETURN(const std::vector<VulkanAdapter> adapters, instance->ListAdapters());
  if (adapters.empty()) return UnavailableError("vulkan: expected a device, got none");
  const auto hardware = std::find_if(adapters.begin(), adapters.end(),
                                     [](const VulkanAdapter& adapter) { return !adapter.info.software; });
  return hardware == adapters.end() ? adapters.front().info : hardware->info;
}

Result<std::unique_ptr<TestDevice>> OpenTestDevice() {
  const char* wanted = std::getenv("CANDOR_TEST_GPU");
  const bool cuda = wanted != nullptr && std::string_view(wanted) == "cuda";
  CANDOR_ASSIGN_OR_RETURN(const DeviceInfo info, cuda ? FindCudaDevice() : FindVulkanDevice());
  auto opened = std::make_unique<TestDevice>();
  CANDOR_ASSIGN_OR_RETURN(opened->device, OpenGpuDevice(info));
  opened->program = std::make_unique<GpuProgram>(*opened->device);
  return opened;
}

// Made at first use.
const Result<std::unique_ptr<TestDevice>>& Device() {
  static const Result<std::unique_ptr<TestDevice>> device = OpenTestDevice();
  return device;
}

TestDevice& Opened() { return *Device().value(); }

Status RunLaunch(const GpuLaunch& launch) {
  CANDOR_ASSIGN_OR_RETURN(const GpuDispatch dispatch, Opened().program->Dispatch(launch));
  const GpuStage stage = {dispatch};
  CANDOR_ASSIGN_OR_RETURN(const std::unique_ptr<GpuRecording> recording, Opened().device->Record({&stage, 1}));
  return recording->Run().status();
}

}  // namespace

GpuFloats::GpuFloats(const GpuMemory& memory, size_t count) : memory_(memory), count_(count) {
  std::memset(memory_.host, static_cast<int>(kGuard), memory_.bytes);
  Poison();
}

DeviceAddress GpuFloats::address() const { return memory_.address + kGuardBytes; }

std::span<float> GpuFloats::values() { return {reinterpret_cast<float*>(memory_.host + kGuardBytes), count_}; }

std::span<const float> GpuFloats::values() const {
  return {reinterpret_cast<const float*>(memory_.host + kGuardBytes), count_};
}

void GpuFloats::Poison() {
  for (float& value : values()) value = std::numeric_limits<float>::quiet_NaN();
}

bool GpuFloats::GuardsIntact() const {
  const size_t end = kGuardBytes + count_ * sizeof(float);
  for (size_t i = 0; i < memory_.bytes; ++i) {
    if ((i < kGuardBytes || i >= end) && memory_.host[i] != kGuard) return false;
  }
  return true;
}

void GpuTest::SetUp() {
  if (!Device().ok()) GTEST_SKIP() << "NOT RUN: " << Device().status().message();
}

void GpuTest::TearDown() {
  if (Device().ok()) Opened().buffers.clear();
}

GpuShape GpuTest::shape() const { return Opened().program->shape(); }

GpuMemory GpuTest::Memory(size_t bytes) {
  auto buffer = Opened().device->Allocate(bytes, GpuMemoryKind::kHost, "a test");
  EXPECT_TRUE(buffer.ok()) << buffer.status().message();
  Opened().buffers.push_back(std::move(*buffer));
  return {Opened().buffers.back()->address(), Opened().buffers.back()->host(), bytes};
}

GpuFloats GpuTest::Floats(size_t count) { return {Memory(count * sizeof(float) + 2 * kGuardBytes), count}; }

DeviceAddress GpuTest::Upload(std::span<const std::byte> bytes, size_t slack) {
  const GpuMemory memory = Memory(bytes.size() + slack);
  std::memset(memory.host, 0xff, memory.bytes);
  if (!bytes.empty()) std::memcpy(memory.host, bytes.data(), bytes.size());
  return memory.address;
}

void GpuTest::Run(const GpuLaunch& launch) {
  const Status status = RunLaunch(launch);
  ASSERT_TRUE(status.ok()) << launch.module << "/" << launch.entry << ": " << status.message();
}

void GpuTest::Run(const Result<GpuLaunch>& launch) {
  ASSERT_TRUE(launch.ok()) << launch.status().message();
  Run(launch.value());
}

void GpuTest::Check(std::string_view what, const GpuFloats& got, std::span<const Expected> want) const {
  EXPECT_TRUE(got.GuardsIntact()) << what << ": wrote outside its output\n" << GpuReproLine();
  CheckValues(what, got.values(), want, GpuReproLine());
}

std::string GpuReproLine() { return ReproLineOf("candor_gpu_kernels_tests"); }

}  // namespace candor
