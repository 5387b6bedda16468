// Verdicts that outlive a process: one small file an API and state of the drivers, in the cache folder. A file that is
// damaged, of another format, of another build or too old counts as none. Several processes may use one folder at a
// time.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "probe/probe_runner.h"

namespace candor {

// What listing gave, with each device's own verdict in it.
struct ProbeReport {
  ProbeResult listing;
  std::vector<DeviceInfo> devices;
};

class ProbeCache {
 public:
  static constexpr std::chrono::hours kKept = std::chrono::hours(24 * 7);

  // `key` stands for the build and the drivers (DriverFingerprint). An empty folder keeps nothing.
  ProbeCache(std::string folder, std::string key) : folder_(std::move(folder)), key_(std::move(key)) {}

  std::optional<ProbeReport> Load(DeviceKind kind) const;
  // PermissionDenied for a folder that cannot be written to, ResourceExhausted for a full disk.
  Status Save(DeviceKind kind, const ProbeReport& report) const;

 private:
  std::string PathOf(DeviceKind kind) const;
  std::string folder_;
  std::string key_;
};

}  // namespace candor
