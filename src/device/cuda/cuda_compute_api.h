// The CUDA driver's functions for work: modules, launches, streams, events, graphs and mapped host memory. A table of
// its own beside CudaApi, loaded when a device is opened for work, so that an older driver can still be listed. From
// the CUDA Driver API reference.
#pragma once

#include "device/cuda/cuda_api.h"

namespace candor {

using CudaModule = struct CudaModuleTag*;        // CUmodule
using CudaFunction = struct CudaFunctionTag*;    // CUfunction
using CudaStream = struct CudaStreamTag*;        // CUstream
using CudaEvent = struct CudaEventTag*;          // CUevent
using CudaGraph = struct CudaGraphTag*;          // CUgraph
using CudaGraphExec = struct CudaGraphExecTag*;  // CUgraphExec

inline constexpr CudaResult kCudaNotReady = 600;

inline constexpr unsigned kCudaStreamNonBlocking = 1;  // no waiting for the legacy default stream
inline constexpr unsigned kCudaEventTimed = 0;         // CU_EVENT_DEFAULT
inline constexpr unsigned kCudaEventDisableTiming = 2;
inline constexpr unsigned kCudaHostPortable = 1;   // CU_MEMHOSTALLOC_PORTABLE
inline constexpr unsigned kCudaHostDeviceMap = 2;  // CU_MEMHOSTALLOC_DEVICEMAP
inline constexpr int kCudaCaptureRelaxed = 2;      // CUstreamCaptureMode
inline constexpr int kCudaFunctionMaxThreads = 0;  // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
inline constexpr int kCudaJitErrorLog = 5;         // CUjit_option; its value is a char*
inline constexpr int kCudaJitErrorLogBytes = 6;    // its value is the number itself

// CUlaunchConfig, and the one attribute (CUlaunchAttribute) that is used: the kernel may start before the one before it
// in its stream has ended.
inline constexpr unsigned kCudaProgrammaticStart = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
struct CudaLaunchAttribute {
  unsigned id = kCudaProgrammaticStart;
  unsigned padding = 0;
  union {
    char bytes[64];
    int allowed;
  } value = {};
};
struct CudaLaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  CudaStream stream = nullptr;
  CudaLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(CudaLaunchAttribute) == 72 && sizeof(CudaLaunchConfig) == 56, "as in the CUDA Driver API");

// X(member, exported name, parameters).
#define CANDOR_CUDA_COMPUTE_FUNCTIONS(X)                                                                              \
  X(module_load, "cuModuleLoadDataEx", (CudaModule*, const void*, unsigned, int*, void**))                            \
  X(module_unload, "cuModuleUnload", (CudaModule))                                                                    \
  X(module_function, "cuModuleGetFunction", (CudaFunction*, CudaModule, const char*))                                 \
  X(function_attribute, "cuFuncGetAttribute", (int*, int, CudaFunction))                                              \
  X(launch, "cuLaunchKernel",                                                                                         \
    (CudaFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CudaStream, void**, void**)) \
  X(stream_create, "cuStreamCreate", (CudaStream*, unsigned))                                                         \
  X(stream_destroy, "cuStreamDestroy_v2", (CudaStream))                                                               \
  X(stream_query, "cuStreamQuery", (CudaStream))                                                                      \
  X(stream_wait_event, "cuStreamWaitEvent", (CudaStream, CudaEvent, unsigned))                                        \
  X(event_create, "cuEventCreate", (CudaEvent*, unsigned))                                                            \
  X(event_destroy, "cuEventDestroy_v2", (CudaEvent))                                                                  \
  X(event_record, "cuEventRecord", (CudaEvent, CudaStream))                                                           \
  X(event_elapsed, "cuEventElapsedTime", (float*, CudaEvent, CudaEvent))                                              \
  X(capture_begin, "cuStreamBeginCapture_v2", (CudaStream, int))                                                      \
  X(capture_end, "cuStreamEndCapture", (CudaStream, CudaGraph*))                                                      \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", (CudaGraphExec*, CudaGraph, unsigned long long))                \
  X(graph_upload, "cuGraphUpload", (CudaGraphExec, CudaStream))                                                       \
  X(graph_launch, "cuGraphLaunch", (CudaGraphExec, CudaStream))                                                       \
  X(graph_destroy, "cuGraphDestroy", (CudaGraph))                                                                     \
  X(graph_exec_destroy, "cuGraphExecDestroy", (CudaGraphExec))                                                        \
  X(host_allocate, "cuMemHostAlloc", (void**, size_t, unsigned))                                                      \
  X(host_free, "cuMemFreeHost", (void*))                                                                              \
  X(host_address, "cuMemHostGetDevicePointer_v2", (CudaAddress*, void*, unsigned))                                    \
  X(copy_async, "cuMemcpyAsync", (CudaAddress, CudaAddress, size_t, CudaStream))

struct CudaComputeApi {
  // Unavailable, with the name of the first function that the driver lacks.
  // `version`: the driver's, 12040 for 12.4.
  static Result<CudaComputeApi> Load(const DynamicLibrary& library, int version);

#define CANDOR_CUDA_MEMBER(member, name, parameters) CudaResult(*member) parameters = nullptr;
  CANDOR_CUDA_COMPUTE_FUNCTIONS(CANDOR_CUDA_MEMBER)
  // Null in a driver whose graphs know no early start: before CUDA 12.4.
  CudaResult (*launch_configured)(const CudaLaunchConfig*, CudaFunction, void**, void**) = nullptr;
#undef CANDOR_CUDA_MEMBER
};

}  // namespace candor
