// The CUDA driver and its devices. Everything here calls into the driver, which may crash or hang: it runs in a probe
// process first (src/probe).
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cuda_api.h"
#include "device/device.h"

namespace candor {

// What Candor's kernels are compiled for begins with Turing.
inline constexpr int kMinComputeCapability = 75;

// One thread at a time.
class CudaDriver {
 public:
  // Unavailable when the driver does not start (no device, another version than the kernel module, no permission).
  static Result<CudaDriver> Start(CudaLibrary library);

  const std::string& path() const { return library_.library.path(); }
  int version() const { return version_; }  // 13000 for CUDA 13.0
  const CudaApi& api() const { return library_.api; }
  const DynamicLibrary& library() const { return library_.library; }
  // The library stays loaded until the process ends: for a GPU that hangs, with threads of the driver waiting for it.
  void Abandon() { library_.library.Abandon(); }
  // All but the verdict; memory_available is known once a context exists (CudaMemoryCheck). In the driver's order.
  Result<std::vector<DeviceInfo>> ListDevices() const;

 private:
  explicit CudaDriver(CudaLibrary library) : library_(std::move(library)) {}
  CudaLibrary library_;
  int version_ = 0;  // 13000 for 13.0
};

// Holds the primary context of a device, made current on this thread. The driver must outlive it.
class CudaMemoryCheck {
 public:
  static Result<std::unique_ptr<CudaMemoryCheck>> Create(const CudaDriver& driver, int index);
  ~CudaMemoryCheck();
  CudaMemoryCheck(const CudaMemoryCheck&) = delete;
  CudaMemoryCheck& operator=(const CudaMemoryCheck&) = delete;

  Result<uint64_t> FreeMemory() const;  // bytes
  // Copies a pattern of `bytes` (a multiple of 4) to the device, within it, and back, and compares. DataLoss when it
  // came back changed; ResourceExhausted with the amount asked for.
  Status RoundTrip(uint64_t bytes);

 private:
  CudaMemoryCheck(const CudaApi& api, CudaDeviceHandle device) : api_(api), device_(device) {}
  Status Copy(uint64_t bytes, std::vector<uint32_t>& values);
  const CudaApi& api_;
  CudaDeviceHandle device_;
  bool retained_ = false;
  CudaAddress first_ = 0;
  CudaAddress second_ = 0;
};

}  // namespace candor
