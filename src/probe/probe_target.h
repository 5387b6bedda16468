// One API as a probe sees it: the steps that the phases call. Runs in the child.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace candor {

// Each step builds on the one before it; a failure ends the probe. One thread.
class ProbeTarget {
 public:
  virtual ~ProbeTarget() = default;
  virtual Status OpenLibrary() = 0;
  virtual Status Enumerate() = 0;                         // fills devices and library
  virtual Status OpenDevice(const DeviceInfo& info) = 0;  // one of devices
  virtual Status RoundTrip(uint64_t bytes) = 0;           // through that device's memory
  virtual std::optional<uint64_t> FreeMemory() = 0;  // of that device, in bytes, where it takes an open device to know
  virtual void Close() = 0;

  std::string library;  // the file of the loader or driver
  std::vector<DeviceInfo> devices;
};

std::unique_ptr<ProbeTarget> MakeVulkanTarget();
std::unique_ptr<ProbeTarget> MakeCudaTarget();

}  // namespace candor
