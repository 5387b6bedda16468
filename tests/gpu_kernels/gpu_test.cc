#include "gpu_test.h"

#include <fmt/format.h>

#include <limits>

namespace candor {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr std::byte kGuard{0xa5};

// Made at first use; software adapters are allowed here by name.
const Result<std::unique_ptr<VulkanRunner>>& Device() {
  static const Result<std::unique_ptr<VulkanRunner>> device = VulkanRunner::Create(SoftwareAdapters::kAllowed);
  return device;
}

VulkanRunner& Runner() { return *Device().value(); }

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
  if (Device().ok()) Runner().FreeAll();
}

GpuShape GpuTest::shape() const { return Runner().shape(); }

GpuMemory GpuTest::Memory(size_t bytes) {
  Result<GpuMemory> memory = Runner().Allocate(bytes);
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  return memory.value();
}

GpuFloats GpuTest::Floats(size_t count) { return {Memory(count * sizeof(float) + 2 * kGuardBytes), count}; }

DeviceAddress GpuTest::Upload(std::span<const std::byte> bytes, size_t slack) {
  const GpuMemory memory = Memory(bytes.size() + slack);
  std::memset(memory.host, 0xff, memory.bytes);
  if (!bytes.empty()) std::memcpy(memory.host, bytes.data(), bytes.size());
  return memory.address;
}

void GpuTest::Run(const GpuLaunch& launch) {
  const Status status = Runner().Run(launch);
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
