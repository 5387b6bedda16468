// PlacementReport: which op family ran where, with which kernels, and where the bytes live.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace candor {

struct OpPlacement {
  std::string op;       // "matmul", "attention", …
  std::string variant;  // "avx2 q4_1"
  std::string device;   // "cpu"
  int64_t count = 0;    // ops of this kind in the plan
  uint64_t weight_bytes = 0;
};

// What a run on a GPU adds.
struct GpuPlacement {
  std::string uuid;
  std::string driver;     // name and version
  std::string precision;  // "auto: activations that meet quantised weights are int8, …"
  uint64_t submissions = 0;
  uint64_t dispatches = 0;
  double gpu_milliseconds = 0;      // by the GPU's own clock
  double dispatches_per_token = 0;  // of a step of one row; 0 before the first
  bool timestamps = false;          // does the device have a clock?
  // Counters prove that the steps ran there: every step was one submission with dispatches, and took time by the GPU's
  // clock where it has one.
  bool verified = false;
};

struct PlacementReport {
  std::string device;       // "cpu"
  std::string device_name;  // "AMD EPYC 7B13"
  std::string isa;          // "avx2"
  int threads = 0;
  std::string kv_type;  // "f16"
  std::vector<OpPlacement> ops;
  uint64_t weight_bytes = 0;
  uint64_t kv_bytes = 0;  // allocated now
  uint64_t scratch_bytes = 0;
  uint64_t steps = 0;  // steps run so far
  uint64_t rows = 0;   // rows run so far
  std::optional<GpuPlacement> gpu;

  std::string ToJson() const;  // one object, the fields above
  std::string ToText() const;  // a few lines for a terminal
};

}  // namespace candor
