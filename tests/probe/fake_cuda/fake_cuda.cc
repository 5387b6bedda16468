// A libcuda.so.1 of a GPU that does not exist: the functions that Candor's probe calls, over host memory. It crashes,
// hangs, lies or fails at the place that CANDOR_FAKE_DRIVER names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "misbehave.h"

using candor::fake::FaultAt;
using candor::fake::Misbehave;

namespace {

constexpr int kSuccess = 0;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kDeviceUnavailable = 46;
constexpr int kMismatch = 803;

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (FaultAt("enumerate") == "mismatch") return kMismatch;
  return Misbehave("enumerate") ? kNoDevice : kSuccess;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}
int cuGetErrorName(int code, const char** name) {
  if (code == kOutOfMemory) *name = "CUDA_ERROR_OUT_OF_MEMORY";
  if (code == kNoDevice) *name = "CUDA_ERROR_NO_DEVICE";
  if (code == kMismatch) *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
  return code == kOutOfMemory || code == kNoDevice || code == kMismatch ? kSuccess : 1;
}
int cuGetErrorString(int code, const char** text) {
  *text = "a fake text";
  return code == kSuccess ? 1 : kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = FaultAt("enumerate") == "garbage" ? -7 : FaultAt("enumerate") == "twins" ? 2 : 1;
  return kSuccess;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return kSuccess;
}
int cuDeviceGetName(char* name, int size, int) {
  snprintf(name, static_cast<size_t>(size), "%s", "Fake CUDA GPU");
  return kSuccess;
}
int cuDeviceGetUuid(unsigned char* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0xC0 + i);
  uuid[15] = static_cast<unsigned char>(device);
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{16} << 30;
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const bool old = FaultAt("enumerate") == "old";
  switch (attribute) {
    case 75:
      *value = old ? 6 : 9;
      break;
    case 76:
      *value = 0;
      break;
    case 10:
      *value = 32;
      break;
    default:
      *value = attribute == 18 ? 0 : 1024;
  }
  return kSuccess;
}
int cuDeviceGetPCIBusId(char* text, int size, int) {
  snprintf(text, static_cast<size_t>(size), "%s", "0000:17:00.0");
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  if (Misbehave("device")) return kDeviceUnavailable;
  *context = context;
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  Misbehave("destroy");
  return kSuccess;
}
int cuCtxSetCurrent(void*) { return kSuccess; }
int cuMemGetInfo_v2(size_t* available, size_t* total) {
  *available = size_t{15} << 30;
  *total = size_t{16} << 30;
  return kSuccess;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (Misbehave("allocate")) return kOutOfMemory;
  *address = reinterpret_cast<uint64_t>(malloc(bytes));
  return kSuccess;
}
int cuMemFree_v2(uint64_t address) {
  free(reinterpret_cast<void*>(address));
  return kSuccess;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  // A lie in silence: nothing is copied.
  memset(reinterpret_cast<void*>(to), 0, bytes);
  if (FaultAt("allocate") != "lie") memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
}
