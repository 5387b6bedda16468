// What the tests of GPU kernels share: one device for the program, guarded and poisoned buffers that it reaches, and
// the comparison with expected values. The device is the best of Vulkan, software adapters included, or with
// CANDOR_TEST_GPU=cuda the first of CUDA. Without one every case is skipped with NOT RUN. The seed is
// --gtest_random_seed.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kernels/lib/gpu_launch.h"
#include "kernels/lib/kernel_test.h"

namespace candor {

// Memory that the host and the device reach, until the end of the case.
struct GpuMemory {
  DeviceAddress address = 0;
  std::byte* host = nullptr;
  size_t bytes = 0;
};

// An output of floats in device memory: NaN at first, guard bytes on both sides.
class GpuFloats {
 public:
  GpuFloats() = default;
  GpuFloats(const GpuMemory& memory, size_t count);
  DeviceAddress address() const;
  std::span<float> values();
  std::span<const float> values() const;
  void Poison();
  bool GuardsIntact() const;

 private:
  GpuMemory memory_;
  size_t count_ = 0;
};

class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  GpuShape shape() const;
  GpuFloats Floats(size_t count);
  // A copy in device memory with `slack` readable bytes of 0xff (NaN) behind it.
  DeviceAddress Upload(std::span<const std::byte> bytes, size_t slack = kGpuReadSlack);
  template <class T>
  DeviceAddress Upload(const std::vector<T>& values) {
    return Upload(std::as_bytes(std::span(values)));
  }
  GpuMemory Memory(size_t bytes);

  void Run(const GpuLaunch& launch);
  void Run(const Result<GpuLaunch>& launch);

  // CheckValues, and guards intact.
  void Check(std::string_view what, const GpuFloats& got, std::span<const Expected> want) const;
};

std::string GpuReproLine();

}  // namespace candor
