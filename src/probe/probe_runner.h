// The parent's side of a probe: starts `candor-probe`, follows its phases with a deadline each, and turns whatever
// happens to it into a verdict. Nothing that a driver does reaches the caller.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"

namespace candor {

struct ProbeSettings {
  std::string program;                                         // the path of candor-probe
  std::vector<std::pair<std::string, std::string>> variables;  // for the child, on top of this process's
  std::optional<std::chrono::milliseconds> deadline;           // of every phase; unset: kProbePhases
  bool self_test = true;                                       // run kernels too, and compare their numbers
};

struct ProbeResult {
  ProbeVerdict verdict;
  StatusCode code = StatusCode::kOk;  // of the phase that failed
  std::string library;                // the loader's or driver's file
  std::vector<DeviceInfo> devices;    // as `enumerate` said; verdicts are not set
  std::optional<uint64_t> memory_available;
};

// candor-probe: beside the program or the library that holds this code, else in ../libexec/candor. NotFound says where
// it looked.
Result<std::string> FindProbeProgram();

ProbeResult ListWithProbe(const ProbeSettings& settings, DeviceKind kind);
ProbeResult TryWithProbe(const ProbeSettings& settings, const DeviceInfo& device);
// What the linker says when a library is opened in a child; empty when it opens.
std::string LibraryError(const ProbeSettings& settings, const std::string& path);

}  // namespace candor
