// Why a GPU that should be there is not: sentences that say what is wrong and what to do. Pure functions of facts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probe/driver_facts.h"
#include "probe/probe_runner.h"

namespace candor {

// The classes of failure, as docs/devices.md lists them.
struct Finding {
  std::string id;  // "F1" … "F10", "F25"
  DeviceKind kind = DeviceKind::kVulkan;
  std::string message;
};

// What is wrong with one API, given the facts and what listing its devices gave. Empty for a machine in order, and for
// a part that the machine need not have (no NVIDIA GPU: nothing is said about CUDA).
std::vector<Finding> DiagnoseVulkan(const DriverFacts& facts, const ProbeResult& listing);
std::vector<Finding> DiagnoseCuda(const DriverFacts& facts, const ProbeResult& listing);

// Tries the library of every manifest with `error_of` (empty: it opens), for DiagnoseVulkan.
void TryManifestLibraries(DriverFacts& facts, const std::function<std::string(const std::string& library)>& error_of);

}  // namespace candor
