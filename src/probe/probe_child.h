// What runs inside `candor-probe`: the phases one after the other, each reported in one JSON line as soon as it ends.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "device/device.h"

namespace candor {

struct ProbeRequest {
  DeviceKind kind = DeviceKind::kVulkan;
  bool listing = true;    // only list the devices
  int index = 0;          // else: this one, which must still have
  std::string uuid;       // this UUID (empty where the driver tells none)
  bool self_test = true;  // with the phases that run kernels; a build without kernels has none to run
};

// Writes lines through `write`: first {"candor_probe": VERSION}, then one a phase: {"phase", "ok", "milliseconds"} and
// "library", "devices", "memory_available" or, when it failed, "code" and "message". Stops after a phase that failed.
void RunProbePhases(const ProbeRequest& request, const std::function<void(std::string_view line)>& write);

// Opens a library and writes {"ok"} or {"ok", "message"}: a driver's libraries are tried in a child too.
void RunLibraryCheck(const std::string& path, const std::function<void(std::string_view line)>& write);

}  // namespace candor
