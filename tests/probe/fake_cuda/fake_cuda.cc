// A libcuda.so.1 of a GPU that does not exist: the functions that Candor's probe calls, over host memory. It crashes,
// hangs, lies or fails at the place that CANDOR_FAKE_DRIVER names. What compute needs besides is in fake_compute.cc.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fake_state.h"
#include "misbehave.h"

using namespace candor::fake;

namespace {

constexpr int kNoDevice = 100;
constexpr int kDeviceUnavailable = 46;
constexpr int kMismatch = 803;

struct ErrorName {
  int code;
  const char* name;
};
constexpr ErrorName kErrorNames[] = {{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                     {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                     {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                                     {kMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                                     {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                     {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
                                     {kUnknown, "CUDA_ERROR_UNKNOWN"}};

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (const int error = Enter()) return error;
  if (FaultAt("enumerate") == "mismatch") return kMismatch;
  return Misbehave("enumerate") ? kNoDevice : kSuccess;
}
int cuDriverGetVersion(int* version) {
  if (const int error = Enter()) return error;
  *version = 13000;
  return kSuccess;
}
int cuGetErrorName(int code, const char** name) {
  for (const ErrorName& known : kErrorNames) {
    if (known.code != code) continue;
    *name = known.name;
    return kSuccess;
  }
  return kInvalidValue;
}
int cuGetErrorString(int code, const char** text) {
  *text = "a fake text";
  return code == kSuccess ? kInvalidValue : kSuccess;
}
int cuDeviceGetCount(int* count) {
  if (const int error = Enter()) return error;
  *count = FaultAt("enumerate") == "garbage" ? -7 : FaultAt("enumerate") == "twins" ? 2 : 1;
  return kSuccess;
}
int cuDeviceGet(int* device, int index) {
  if (const int error = Enter()) return error;
  *device = index;
  return kSuccess;
}
int cuDeviceGetName(char* name, int size, int) {
  if (const int error = Enter()) return error;
  snprintf(name, static_cast<size_t>(size), "%s", "Fake CUDA GPU");
  return kSuccess;
}
int cuDeviceGetUuid(unsigned char* uuid, int device) {
  if (const int error = Enter()) return error;
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0xC0 + i);
  uuid[15] = static_cast<unsigned char>(device);
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  if (const int error = Enter()) return error;
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
  if (const int error = Enter(Kind::kMemory)) return error;
  static char the_context;
  *context = &the_context;
  ++TheState().contexts;
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  Misbehave("destroy");
  State& state = TheState();
  if (state.hangs) ++state.blocked;
  if (--state.contexts < 0) ++state.misuses;
  if (state.contexts == 0) state.lost = false;  // the next context is a new one
  return kSuccess;
}
int cuCtxSetCurrent(void* context) {
  if (context == nullptr) {
    MakeCurrent(nullptr);
    return kSuccess;
  }
  if (const int error = Enter()) return error;
  MakeCurrent(context);
  return kSuccess;
}
int cuMemGetInfo_v2(size_t* available, size_t* total) {
  if (const int error = EnterContext()) return error;
  *available = size_t{15} << 30;
  *total = size_t{16} << 30;
  return kSuccess;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (Misbehave("allocate")) return kOutOfMemory;
  if (const int error = EnterContext(Kind::kMemory)) return error;
  void* memory = nullptr;
  const int result = NewMemory(&memory, bytes, "device memory");
  *address = reinterpret_cast<uint64_t>(memory);
  return result;
}
int cuMemFree_v2(uint64_t address) {
  FreeMemory(reinterpret_cast<void*>(address), "device memory");
  return LeaveResult();
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
