#include "device/cuda/cuda_context.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace candor {
namespace {

using Clock = std::chrono::steady_clock;

// A decode step of a small model is over while its thread still spins; a longer one loses at most a nap.
constexpr auto kSpin = std::chrono::milliseconds(4);
constexpr auto kNap = std::chrono::microseconds(50);

Result<CudaDriver> StartDriver(const DeviceInfo& info, const std::string& name) {
  auto library = CudaLibrary::Open(name);
  if (library.status().code() == StatusCode::kNotFound) {
    return UnavailableError("device {} ({}): expected CUDA's driver, got none: {}", DeviceId(info), info.name,
                            library.status().message());
  }
  if (!library.ok()) return library.status();
  return CudaDriver::Start(std::move(library).value());
}

}  // namespace

Result<std::unique_ptr<CudaContext>> CudaContext::Open(const DeviceInfo& info, const CudaWorkSettings& settings) {
  CANDOR_ASSIGN_OR_RETURN(CudaDriver driver, StartDriver(info, settings.library));
  std::unique_ptr<CudaContext> context(new CudaContext(std::move(driver), settings.deadline));
  CANDOR_RETURN_IF_ERROR(context->FindDevice(info));
  CANDOR_ASSIGN_OR_RETURN(context->compute_,
                          CudaComputeApi::Load(context->driver_.library(), context->driver_.version()));
  CANDOR_RETURN_IF_ERROR(context->Retain());
  CANDOR_RETURN_IF_ERROR(context->MakeStreams());
  return context;
}

Status CudaContext::FindDevice(const DeviceInfo& info) {
  CANDOR_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> devices, driver_.ListDevices());
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
    return info.gpu.uuid.empty() ? device.index == info.index : device.gpu.uuid == info.gpu.uuid;
  });
  if (found == devices.end()) {
    return UnavailableError(
        "device {} ({}): expected the device that was probed, got none of its {}: it is gone, unplugged, reset or "
        "taken "
        "away; see `candor devices`",
        DeviceId(info), info.name, info.gpu.uuid.empty() ? "number" : "UUID");
  }
  if (!found->gpu.missing.empty()) {
    return FailedPreconditionError("device {} ({}): it lacks {}, which the kernels need; take another device",
                                   DeviceId(info), info.name, found->gpu.missing.front());
  }
  info_ = *found;
  info_.memory_available = info.memory_available;
  info_.verdict = info.verdict;
  return OkStatus();
}

Status CudaContext::Retain() {
  CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDeviceGet", api().device_get(&device_, info_.index));
  CudaContextHandle retained = nullptr;
  CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuDevicePrimaryCtxRetain", api().context_retain(&retained, device_));
  context_ = retained;  // from here on the destructor gives it back
  return Enter();
}

Status CudaContext::MakeStreams() {
  const auto make_stream = [this](CudaStream& stream) -> Status {
    CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuStreamCreate", compute_.stream_create(&stream, kCudaStreamNonBlocking));
    return OkStatus();
  };
  const auto make_event = [this](CudaEvent& event) -> Status {
    CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuEventCreate", compute_.event_create(&event, kCudaEventDisableTiming));
    return OkStatus();
  };
  CANDOR_RETURN_IF_ERROR(make_stream(stream_));
  CANDOR_RETURN_IF_ERROR(make_event(fork_));
  for (Lane& lane : lanes_) {
    CANDOR_RETURN_IF_ERROR(make_stream(lane.stream));
    CANDOR_RETURN_IF_ERROR(make_event(lane.done));
  }
  return OkStatus();
}

CudaContext::~CudaContext() {
  if (context_ == nullptr) return;
  if (!EnterToFree()) {
    driver_.Abandon();
    return;
  }
  for (const Lane& lane : lanes_) {
    if (lane.done != nullptr) compute_.event_destroy(lane.done);
    if (lane.stream != nullptr) compute_.stream_destroy(lane.stream);
  }
  if (fork_ != nullptr) compute_.event_destroy(fork_);
  if (stream_ != nullptr) compute_.stream_destroy(stream_);
  api().context_set(nullptr);
  api().context_release(device_);
}

Status CudaContext::Enter() const {
  CANDOR_RETURN_IF_ERROR(lost_);
  CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuCtxSetCurrent", api().context_set(context_));
  return OkStatus();
}

bool CudaContext::EnterToFree() const {
  if (hangs_) return false;
  api().context_set(context_);  // where that fails, the end of the context gives everything back
  return true;
}

Result<uint64_t> CudaContext::FreeMemory() const {
  CANDOR_RETURN_IF_ERROR(Enter());
  size_t available = 0;
  size_t total = 0;
  CANDOR_RETURN_IF_CUDA_ERROR(api(), "cuMemGetInfo", api().memory_info(&available, &total));
  return uint64_t{available};
}

void CudaContext::Lose(const std::string& why) {
  lost_ = UnavailableError("device {} ({}): it stopped working ({}); load the model again, `candor devices` tells more",
                           DeviceId(info_), info_.name, why);
}

Status CudaContext::CheckSubmission(std::string_view where, CudaResult result) {
  if (result == kCudaSuccess) return OkStatus();
  Lose(api().Error(where, result).message());
  return lost_;
}

Status CudaContext::Wait() {
  const Clock::time_point start = Clock::now();
  while (true) {
    const CudaResult result = compute_.stream_query(stream_);
    if (result != kCudaNotReady) return CheckSubmission("cuStreamQuery", result);
    const Clock::duration waited = Clock::now() - start;
    if (waited > deadline_) break;
    if (waited > kSpin) std::this_thread::sleep_for(kNap);
  }
  hangs_ = true;
  const std::string why = fmt::format("expected its work to be done after {} ms, got no end of it", deadline_.count());
  Lose(why);
  return DeadlineExceededError("device {} ({}): {}; it hangs: end this program, and restart the machine if it stays so",
                               DeviceId(info_), info_.name, why);
}

}  // namespace candor
