// The limits that a Linux control group (v1 or v2) puts on this process. A machine without /proc or /sys has none that
// we can see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace candor {

struct CgroupLimits {
  std::optional<uint64_t> memory;  // bytes; the smallest limit of the group and its parents
  std::optional<uint64_t>
      memory_free;             // bytes left under that limit, page cache that can be given back counted as free
  std::optional<double> cpus;  // processor time per time, e.g. 1.5
};

// Reads <root>/proc/self/cgroup and <root>/sys/fs/cgroup; `root` is "" but in tests. Thread safe.
CgroupLimits ReadCgroupLimits(const std::string& root);

}  // namespace candor
