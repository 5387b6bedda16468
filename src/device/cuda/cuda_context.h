// CudaContext: the primary context of a device that is open for work, with the streams that everything runs on. The
// buffers, recordings and the device of the other files hold a reference to it.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "device/cuda/cuda_compute_api.h"
#include "device/cuda/cuda_driver.h"
#include "device/gpu_device.h"

namespace candor {

struct CudaWorkSettings {
  std::string library = "libcuda.so.1";
  std::chrono::milliseconds deadline = std::chrono::minutes(2);  // for one submission
};

// One thread at a time, not always the same one.
class CudaContext {
 public:
  // What runs beside the work of the main stream while a stage is recorded; `done` is its join.
  struct Lane {
    CudaStream stream = nullptr;
    CudaEvent done = nullptr;
  };

  // The device of that UUID, else of that index where `info` has none.
  static Result<std::unique_ptr<CudaContext>> Open(const DeviceInfo& info, const CudaWorkSettings& settings);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const DeviceInfo& info() const { return info_; }
  const CudaApi& api() const { return driver_.api(); }
  const CudaComputeApi& compute() const { return compute_; }
  CudaStream stream() const { return stream_; }
  std::span<const Lane> lanes() const { return lanes_; }
  CudaEvent fork() const { return fork_; }

  // Makes the context current on this thread. The first step of everything that is asked of the device; Unavailable
  // once it is lost.
  Status Enter() const;
  // The same for destructors, which go on when the device is lost. False when nothing can be given back, since every
  // such call waits for a GPU that hangs.
  bool EnterToFree() const;
  Result<uint64_t> FreeMemory() const;

  // The result of a call that belongs to a submission: an error means that the device is lost.
  Status CheckSubmission(std::string_view where, CudaResult result);
  // Until all work of the main stream is done. A device that is not done by the deadline is lost too.
  Status Wait();

 private:
  CudaContext(CudaDriver driver, std::chrono::milliseconds deadline)
      : driver_(std::move(driver)), deadline_(deadline) {}
  Status FindDevice(const DeviceInfo& info);
  Status Retain();
  Status MakeStreams();
  void Lose(const std::string& why);

  CudaDriver driver_;
  CudaComputeApi compute_;
  std::chrono::milliseconds deadline_;
  DeviceInfo info_;
  CudaDeviceHandle device_ = 0;
  CudaContextHandle context_ = nullptr;
  CudaStream stream_ = nullptr;
  std::array<Lane, 7> lanes_;
  CudaEvent fork_ = nullptr;
  bool hangs_ = false;
  Status lost_;  // why the device is of no use any more
};

}  // namespace candor
