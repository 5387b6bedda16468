#include "device/vulkan/vulkan_instance.h"
#include "device/vulkan/vulkan_memory_check.h"
#include "probe/probe_target.h"

namespace candor {
namespace {

class VulkanTarget : public ProbeTarget {
 public:
  Status OpenLibrary() override {
    CANDOR_ASSIGN_OR_RETURN(loader_, VulkanLoader::Open());
    library = loader_.path();
    return OkStatus();
  }
  Status Enumerate() override {
    auto instance = VulkanInstance::Create(loader_);
    if (!instance.ok()) return instance.status();
    instance_.emplace(std::move(*instance));
    CANDOR_ASSIGN_OR_RETURN(adapters_, instance_->ListAdapters());
    for (const VulkanAdapter& adapter : adapters_) devices.push_back(adapter.info);
    return OkStatus();
  }
  Status OpenDevice(const DeviceInfo& info) override {
    const auto index = static_cast<size_t>(info.index);
    CANDOR_ASSIGN_OR_RETURN(check_, VulkanMemoryCheck::Create(*instance_, adapters_[index].handle));
    return OkStatus();
  }
  Status RoundTrip(uint64_t bytes) override { return check_->RoundTrip(bytes); }
  std::optional<uint64_t> FreeMemory() override { return std::nullopt; }
  void Close() override {
    check_.reset();
    instance_.reset();
    loader_ = VulkanLoader();
  }

 private:
  VulkanLoader loader_;
  std::optional<VulkanInstance> instance_;
  std::vector<VulkanAdapter> adapters_;
  std::unique_ptr<VulkanMemoryCheck> check_;
};

}  // namespace

std::unique_ptr<ProbeTarget> MakeVulkanTarget() { return std::make_unique<VulkanTarget>(); }

}  // namespace candor
