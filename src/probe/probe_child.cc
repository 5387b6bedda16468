#include "probe/probe_child.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/clock.h"
#include "platform/dynamic_library.h"
#include "probe/device_json.h"
#include "probe/gpu_canaries.h"
#include "probe/probe_phases.h"
#include "probe/probe_target.h"

namespace candor {
namespace {

constexpr uint64_t kRoundTripBytes = uint64_t{64} << 20;

// State of one probe; a step writes what it found into its line.
struct ProbeRun {
  const ProbeRequest& request;
  std::unique_ptr<ProbeTarget> target;
  DeviceInfo device;  // the one that is tried, once `enumerate` has found it
  std::unique_ptr<GpuCanaries> canaries;
};

Status OpenLibrary(ProbeRun& run, Json& line) {
  const Status status = run.target->OpenLibrary();
  if (status.ok()) line["library"] = run.target->library;
  return status;
}

// The device that was asked for: at its index, or wherever its UUID is now.
Status FindDevice(ProbeRun& run) {
  const ProbeRequest& request = run.request;
  const auto& devices = run.target->devices;
  const auto fits = [&](const DeviceInfo& info) {
    return request.uuid.empty() ? info.index == request.index : info.gpu.uuid == request.uuid;
  };
  auto found = std::find_if(devices.begin(), devices.end(),
                            [&](const DeviceInfo& info) { return info.index == request.index && fits(info); });
  if (found == devices.end()) found = std::find_if(devices.begin(), devices.end(), fits);
  if (found == devices.end()) {
    return NotFoundError(
        "expected the device {}:{} ({}) that was listed a moment ago, got none; it was unplugged, reset or taken by "
        "another container",
        DeviceKindName(request.kind), request.index, request.uuid.empty() ? "no uuid" : request.uuid);
  }
  run.device = *found;
  return OkStatus();
}

Status Enumerate(ProbeRun& run, Json& line) {
  CANDOR_RETURN_IF_ERROR(run.target->Enumerate());
  line["devices"] = Json::array();
  for (const DeviceInfo& info : run.target->devices) line["devices"].push_back(DeviceToJson(info));
  return run.request.listing ? OkStatus() : FindDevice(run);
}

Status OpenDevice(ProbeRun& run, Json& line) {
  if (!run.device.gpu.missing.empty()) {
    return FailedPreconditionError("the device or its driver is too old: it lacks {}",
                                   fmt::format("{}", fmt::join(run.device.gpu.missing, ", ")));
  }
  CANDOR_RETURN_IF_ERROR(run.target->OpenDevice(run.device));
  if (const auto available = run.target->FreeMemory()) line["memory_available"] = *available;
  return OkStatus();
}

Status Allocate(ProbeRun& run, Json&) {
  const uint64_t bytes = std::min<uint64_t>(kRoundTripBytes, run.device.memory_total / 16);
  return run.target->RoundTrip(std::max<uint64_t>(bytes & ~uint64_t{4095}, 4096));
}

Status Compile(ProbeRun& run, Json& line) {
  if (!run.request.self_test || !HasGpuKernels()) {
    line["left_out"] = true;
    return OkStatus();
  }
  CANDOR_ASSIGN_OR_RETURN(run.canaries, GpuCanaries::Make(run.device));
  return OkStatus();
}

Status Compute(ProbeRun& run, Json& line) {
  if (run.canaries != nullptr) return run.canaries->Run();
  line["left_out"] = true;
  return OkStatus();
}

Status Destroy(ProbeRun& run, Json&) {
  run.canaries.reset();
  run.target->Close();
  return OkStatus();
}

// In the order of kProbePhases; a phase is added in both.
using Step = Status (*)(ProbeRun& run, Json& line);
constexpr Step kSteps[] = {OpenLibrary, Enumerate, OpenDevice, Allocate, Compile, Compute, Destroy};
static_assert(std::size(kSteps) == std::size(kProbePhases));

}  // namespace

void RunProbePhases(const ProbeRequest& request, const std::function<void(std::string_view line)>& write) {
  write(JsonLine({{"candor_probe", CANDOR_VERSION}}));
  ProbeRun run{request, request.kind == DeviceKind::kCuda ? MakeCudaTarget() : MakeVulkanTarget(), {}, nullptr};
  for (size_t i = 0; i < std::size(kProbePhases); ++i) {
    if (request.listing && !kProbePhases[i].listing) continue;
    const Stopwatch watch;
    Json line = {{"phase", kProbePhases[i].name}};
    const Status status = kSteps[i](run, line);
    line["ok"] = status.ok();
    line["milliseconds"] = watch.Milliseconds();
    if (!status.ok()) {
      line["code"] = StatusCodeName(status.code());
      line["message"] = status.message();
    }
    write(JsonLine(line));
    if (!status.ok()) return;
  }
}

void RunLibraryCheck(const std::string& path, const std::function<void(std::string_view line)>& write) {
  const auto library = DynamicLibrary::Open(path);
  Json line = {{"ok", library.ok()}};
  if (!library.ok()) line["message"] = library.status().message();
  write(JsonLine(line));
}

}  // namespace candor
