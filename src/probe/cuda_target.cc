#include "device/cuda/cuda_driver.h"
#include "probe/probe_target.h"

namespace candor {
namespace {

class CudaTarget : public ProbeTarget {
 public:
  Status OpenLibrary() override {
    CANDOR_ASSIGN_OR_RETURN(CudaLibrary cuda, CudaLibrary::Open());
    library = cuda.library.path();
    cuda_ = std::move(cuda);
    return OkStatus();
  }
  Status Enumerate() override {
    CANDOR_ASSIGN_OR_RETURN(CudaDriver driver, CudaDriver::Start(std::move(cuda_)));
    driver_.emplace(std::move(driver));
    CANDOR_ASSIGN_OR_RETURN(devices, driver_->ListDevices());
    return OkStatus();
  }
  Status OpenDevice(const DeviceInfo& info) override {
    CANDOR_ASSIGN_OR_RETURN(check_, CudaMemoryCheck::Create(*driver_, info.index));
    CANDOR_ASSIGN_OR_RETURN(free_memory_, check_->FreeMemory());
    return OkStatus();
  }
  Status RoundTrip(uint64_t bytes) override { return check_->RoundTrip(bytes); }
  std::optional<uint64_t> FreeMemory() override { return free_memory_; }
  void Close() override {
    check_.reset();
    driver_.reset();
  }

 private:
  CudaLibrary cuda_;
  std::optional<CudaDriver> driver_;
  std::unique_ptr<CudaMemoryCheck> check_;
  uint64_t free_memory_ = 0;
};

}  // namespace

std::unique_ptr<ProbeTarget> MakeCudaTarget() { return std::make_unique<CudaTarget>(); }

}  // namespace candor
