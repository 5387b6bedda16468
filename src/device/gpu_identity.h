// What is known of a GPU: who it is, which driver speaks for it, what it has and what it can do. Filled by
// src/device/vulkan and src/device/cuda from what the driver says; a driver may lie, so nothing here is trusted for
// correctness.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace candor {

struct MemoryHeap {
  uint64_t size = 0;       // bytes
  uint64_t available = 0;  // bytes that this process may still take; 0 where the driver does not tell
  bool device_local = false;
};

struct GpuLimits {
  uint64_t max_storage_buffer = 0;  // bytes
  uint64_t max_allocation = 0;      // bytes
  uint64_t max_buffer = 0;          // bytes
  uint32_t max_workgroup_invocations = 0;
  uint32_t max_workgroup_count = 0;  // in x
  uint32_t shared_memory = 0;        // bytes a workgroup
  uint32_t max_push_constants = 0;   // bytes
};

// Text is empty and numbers are 0 where the API has no such thing or the driver does not tell.
struct GpuIdentity {
  std::string uuid;         // "8f1c0a3e-…": 8-4-4-4-12 hexadecimal digits
  std::string driver_uuid;  // the same form
  std::string luid;         // 16 hexadecimal digits
  std::string pci;          // "0000:17:00.0"
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::string device_type;  // "discrete", "integrated", "virtual", "cpu", "other"
  uint32_t driver_id = 0;   // VkDriverId
  std::string driver_name;
  std::string driver_info;
  std::string driver_version;       // "580.95.5.0", as the vendor writes it
  std::string api_version;          // "1.3.280"; CUDA: the driver's, "13.0"
  std::string conformance_version;  // "1.3.7.2"
  std::string compute_capability;   // CUDA: "9.0"
  uint32_t subgroup_size = 0;
  uint32_t subgroup_min = 0;
  uint32_t subgroup_max = 0;
  std::vector<MemoryHeap> heaps;
  GpuLimits limits;
  double timestamp_period = 0;                  // nanoseconds a tick
  std::vector<std::string> cooperative_matrix;  // "16x16x16 f16,f16,f32,f32 subgroup"
  std::vector<std::string> missing;             // what Candor's kernels need and this device lacks
};

// Why a GPU is none but the CPU behind a GPU's API ("its driver is lavapipe"); empty for hardware. Judged by every
// tell-tale that software adapters are known by, since a single one can be absent.
std::string SoftwareTellTale(std::string_view name, const GpuIdentity& gpu);

// 16 bytes as 8-4-4-4-12 hexadecimal digits; empty when all are zero, which no real device has.
std::string FormatUuid(const uint8_t* bytes);

// A name of at most `size` bytes from a driver: ends at a NUL or after `size`; what is no printable text is escaped.
std::string DriverText(const char* text, size_t size);

}  // namespace candor
