// The CUDA driver's functions that Candor's device room uses, fetched by name from libcuda at run time. Declared here,
// from the CUDA Driver API reference, so that neither a toolkit nor its headers are needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "platform/dynamic_library.h"

namespace candor {

using CudaResult = int;        // CUresult
using CudaDeviceHandle = int;  // CUdevice
using CudaContextHandle = struct CudaContextTag*;
using CudaAddress = uint64_t;  // CUdeviceptr

struct CudaUuid {
  uint8_t bytes[16];
};

inline constexpr CudaResult kCudaSuccess = 0;

// CUdevice_attribute.
inline constexpr int kCudaMaxThreadsPerBlock = 1;
inline constexpr int kCudaMaxGridX = 5;
inline constexpr int kCudaSharedMemoryPerBlock = 8;
inline constexpr int kCudaWarpSize = 10;
inline constexpr int kCudaIntegrated = 18;
inline constexpr int kCudaComputeMajor = 75;
inline constexpr int kCudaComputeMinor = 76;
inline constexpr int kCudaSharedMemoryOptIn = 97;

// X(member, exported name, parameters). The _v2 names are those that cuda.h has meant since CUDA 3.2 and 11.
#define CANDOR_CUDA_FUNCTIONS(X)                                                        \
  X(init, "cuInit", (unsigned))                                                         \
  X(driver_version, "cuDriverGetVersion", (int*))                                       \
  X(error_name, "cuGetErrorName", (CudaResult, const char**))                           \
  X(error_text, "cuGetErrorString", (CudaResult, const char**))                         \
  X(device_count, "cuDeviceGetCount", (int*))                                           \
  X(device_get, "cuDeviceGet", (CudaDeviceHandle*, int))                                \
  X(device_name, "cuDeviceGetName", (char*, int, CudaDeviceHandle))                     \
  X(device_uuid, "cuDeviceGetUuid", (CudaUuid*, CudaDeviceHandle))                      \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t*, CudaDeviceHandle))                  \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, CudaDeviceHandle))            \
  X(device_pci, "cuDeviceGetPCIBusId", (char*, int, CudaDeviceHandle))                  \
  X(context_retain, "cuDevicePrimaryCtxRetain", (CudaContextHandle*, CudaDeviceHandle)) \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (CudaDeviceHandle))                \
  X(context_set, "cuCtxSetCurrent", (CudaContextHandle))                                \
  X(memory_info, "cuMemGetInfo_v2", (size_t*, size_t*))                                 \
  X(memory_allocate, "cuMemAlloc_v2", (CudaAddress*, size_t))                           \
  X(memory_free, "cuMemFree_v2", (CudaAddress))                                         \
  X(copy_to_device, "cuMemcpyHtoD_v2", (CudaAddress, const void*, size_t))              \
  X(copy_on_device, "cuMemcpyDtoD_v2", (CudaAddress, CudaAddress, size_t))              \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void*, CudaAddress, size_t))

struct CudaApi {
#define CANDOR_CUDA_MEMBER(member, name, parameters) CudaResult(*member) parameters = nullptr;
  CANDOR_CUDA_FUNCTIONS(CANDOR_CUDA_MEMBER)
#undef CANDOR_CUDA_MEMBER

  // "cuda cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected", with the code that fits:
  // ResourceExhausted for memory, PermissionDenied, else Unavailable. `result` must not be kCudaSuccess.
  Status Error(std::string_view where, CudaResult result) const;
};

#define CANDOR_RETURN_IF_CUDA_ERROR(api, where, expression)                                    \
  do {                                                                                         \
    const ::candor::CudaResult candor_result_ = (expression);                                  \
    if (candor_result_ != ::candor::kCudaSuccess) return (api).Error((where), candor_result_); \
  } while (false)

// NotFound when the machine has no driver; Unavailable for one that is too old or broken.
struct CudaLibrary {
  static Result<CudaLibrary> Open(const std::string& name = "libcuda.so.1");
  DynamicLibrary library;
  CudaApi api;
};

}  // namespace candor
