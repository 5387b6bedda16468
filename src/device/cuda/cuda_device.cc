#include "device/cuda/cuda_device.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/printable.h"
#include "device/cuda/cuda_buffer.h"
#include "device/cuda/cuda_recording.h"

namespace candor {
namespace {

// What the driver's compiler said, for a sentence; empty when it said nothing.
std::string LogText(std::string_view log) {
  constexpr size_t kLimit = 500;
  const size_t end = log.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return "";
  return fmt::format("; its compiler says: {}", Printable(log.substr(0, end + 1), kLimit));
}

class CudaDevice : public GpuDevice {
 public:
  explicit CudaDevice(std::unique_ptr<CudaContext> context) : context_(std::move(context)) {}
  ~CudaDevice() override {
    if (!context_->EnterToFree()) return;
    for (const Module& module : modules_) context_->compute().module_unload(module.handle);
  }

  const DeviceInfo& info() const override { return context_->info(); }
  Result<uint64_t> FreeMemory() const override { return context_->FreeMemory(); }

  Result<std::unique_ptr<GpuBuffer>> Allocate(uint64_t bytes, GpuMemoryKind kind, std::string_view what) override {
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<CudaBuffer> buffer, CudaBuffer::Make(*context_, bytes, kind, what));
    return std::unique_ptr<GpuBuffer>(std::move(buffer));
  }

  Result<GpuModuleId> LoadModule(std::string_view name, std::span<const std::byte> code, GpuStart start) override {
    CANDOR_RETURN_IF_ERROR(context_->Enter());
    std::vector<std::byte> image(code.begin(), code.end());
    image.push_back(std::byte{0});  // PTX ends with it
    std::array<char, 4096> log{};
    std::array options = {kCudaJitErrorLog, kCudaJitErrorLogBytes};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    Module module{std::string(name), nullptr, start};
    const CudaResult result =
        context_->compute().module_load(&module.handle, image.data(), options.size(), options.data(), values.data());
    if (result != kCudaSuccess) {
      const Status status = context_->api().Error(fmt::format("cuModuleLoadDataEx of {}", name), result);
      return Status(status.code(), status.message() + LogText({log.data(), strnlen(log.data(), log.size())}));
    }
    modules_.push_back(std::move(module));
    return static_cast<GpuModuleId>(modules_.size() - 1);
  }

  Result<GpuKernelId> LoadKernel(GpuModuleId module, std::string_view entry, uint32_t threads) override {
    CANDOR_CHECK(module < modules_.size(), "a kernel of a module that was not loaded");
    CANDOR_RETURN_IF_ERROR(context_->Enter());
    const CudaComputeApi& compute = context_->compute();
    const std::string name = fmt::format("{}/{}", modules_[module].name, entry);
    CudaKernel kernel{nullptr, threads, modules_[module].start};
    CANDOR_RETURN_IF_CUDA_ERROR(
        context_->api(), "cuModuleGetFunction of " + name,
        compute.module_function(&kernel.function, modules_[module].handle, std::string(entry).c_str()));
    int most = 0;  // fewer than the device's own limit for a kernel of many registers
    CANDOR_RETURN_IF_CUDA_ERROR(context_->api(), "cuFuncGetAttribute of " + name,
                                compute.function_attribute(&most, kCudaFunctionMaxThreads, kernel.function));
    if (most < 0 || threads > static_cast<uint32_t>(most)) {
      return UnavailableError("{}: expected room for a workgroup of {} threads of the kernel {}, got {}",
                              DeviceId(info()), threads, name, most);
    }
    kernels_.push_back(kernel);
    return static_cast<GpuKernelId>(kernels_.size() - 1);
  }

  Result<std::unique_ptr<GpuRecording>> Record(std::span<const GpuStage> stages) override {
    CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<CudaRecording> recording, CudaRecording::Make(*context_, kernels_, stages));
    return std::unique_ptr<GpuRecording>(std::move(recording));
  }

  Status Copy(std::span<const GpuCopy> copies) override {
    for (const GpuCopy& copy : copies) CheckCopy(copy);
    CANDOR_RETURN_IF_ERROR(context_->Enter());
    for (const GpuCopy& copy : copies) {
      CANDOR_RETURN_IF_ERROR(
          context_->CheckSubmission("cuMemcpyAsync", CopyAsync(*context_, copy, context_->stream())));
    }
    return context_->Wait();
  }

 private:
  struct Module {
    std::string name;
    CudaModule handle;
    GpuStart start;
  };
  std::unique_ptr<CudaContext> context_;
  std::vector<Module> modules_;
  std::vector<CudaKernel> kernels_;  // by GpuKernelId
};

}  // namespace

Result<std::unique_ptr<GpuDevice>> OpenCudaDevice(const DeviceInfo& info, const CudaWorkSettings& settings) {
  CANDOR_ASSIGN_OR_RETURN(std::unique_ptr<CudaContext> context, CudaContext::Open(info, settings));
  return std::unique_ptr<GpuDevice>(std::make_unique<CudaDevice>(std::move(context)));
}

Result<std::unique_ptr<GpuDevice>> OpenCudaDevice(const DeviceInfo& info) { return OpenCudaDevice(info, {}); }

}  // namespace candor
