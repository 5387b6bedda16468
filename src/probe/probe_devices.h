// All devices of the machine with their verdicts, and what is wrong with it: the one entrance for `candor devices` and
// for a model that is to run on a GPU. No driver is loaded into this process.
#pragma once

#include <string>
#include <vector>

#include "platform/environment.h"
#include "probe/diagnosis.h"
#include "probe/probe_runner.h"

namespace candor {

struct ProbeOptions {
  Environment environment;
  std::vector<DeviceKind> kinds = {DeviceKind::kVulkan, DeviceKind::kCuda};  // GPU APIs; the CPU is always there
  bool retry = false;             // forget what is kept, and try drivers again that crashed or hung
  bool cached_is_enough = false;  // for a quick start: kept verdicts stand in for a probe, and free memory may be old
  ProbeSettings settings;         // an empty program is looked for
  std::string root;               // of the files that a diagnosis looks at; "" but in tests
};

struct ProbedDevices {
  DeviceInventory inventory;
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // what went wrong besides: verdicts that could not be kept
};

// Takes as long as the drivers do, at most the deadlines of their phases. Thread safe; files are its only shared state.
ProbedDevices ProbeDevices(const ProbeOptions& options);

}  // namespace candor
