#include "device/device.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

using State = ProbeVerdict::State;

DeviceInfo Gpu(DeviceKind kind, int index, const char* name, const char* uuid = "") {
  DeviceInfo info;
  info.kind = kind;
  info.index = index;
  info.name = name;
  info.memory_total = uint64_t{16} << 30;
  info.gpu.uuid = uuid;
  info.gpu.device_type = "discrete";
  info.verdict.state = State::kPassed;
  return info;
}

DeviceInfo Software(int index) {
  DeviceInfo info = Gpu(DeviceKind::kVulkan, index, "llvmpipe (LLVM 15.0.6, 256 bits)");
  info.gpu.device_type = "cpu";
  info.software = true;
  info.software_reason = "its driver calls it a CPU";
  return info;
}

const ChoicePolicy kAnyKind = {false, {DeviceKind::kCpu, DeviceKind::kVulkan, DeviceKind::kCuda}};
constexpr const char* kUuidA = "8f010203-0405-0607-0809-0a0b0c0d0eff";
constexpr const char* kUuidB = "9f010203-0405-0607-0809-0a0b0c0d0eff";

DeviceInventory Machine(std::vector<DeviceInfo> gpus) {
  DeviceInventory inventory{ListCpuDevices(), {}};
  for (DeviceInfo& gpu : gpus) inventory.devices.push_back(std::move(gpu));
  for (const DeviceKind kind : {DeviceKind::kVulkan, DeviceKind::kCuda}) {
    inventory.absent.push_back({kind, "no driver is installed; install one"});
  }
  return inventory;
}

Result<ChosenDevice> Choose(const char* selector, const DeviceInventory& inventory,
                            const ChoicePolicy& policy = kAnyKind) {
  return ChooseDevice(*ParseDeviceSelector(selector), inventory, policy);
}

void ExpectRefused(const Result<ChosenDevice>& chosen, const std::vector<std::string>& parts) {
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().code(), StatusCode::kUnavailable);
  for (const std::string& part : parts) {
    EXPECT_NE(chosen.status().message().find(part), std::string::npos) << part << " in: " << chosen.status().message();
  }
}

TEST(Device, SelectorForms) {
  EXPECT_TRUE(ParseDeviceSelector("auto")->automatic);
  EXPECT_EQ(ParseDeviceSelector("cpu")->kind, DeviceKind::kCpu);
  const auto named = ParseDeviceSelector("vulkan:NVIDIA H200");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->kind, DeviceKind::kVulkan);
  EXPECT_EQ(named->detail, "NVIDIA H200");
  for (const char* bad : {"", "gpu", "cuda:", "CPU", "cpuX"}) {
    const auto selector = ParseDeviceSelector(bad);
    ASSERT_FALSE(selector.ok()) << bad;
    EXPECT_EQ(selector.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(selector.status().message().find("candor devices"), std::string::npos);
  }
}

TEST(Device, WithoutAProbeAGpuIsUnavailableAndNeverTheCpu) {
  for (const char* name : {"vulkan", "cuda", "vulkan:0", "cuda:3"}) {
    ExpectRefused(ChooseDevice(*ParseDeviceSelector(name), true), {name[0] == 'v' ? "vulkan" : "cuda", "use -d cpu"});
  }
}

TEST(Device, WithoutAProbeAutoIsTheCpuAndSaysWhy) {
  const auto chosen = ChooseDevice(DeviceSelector{}, false);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->info.kind, DeviceKind::kCpu);
  EXPECT_NE(chosen->reason.find("no GPU is usable"), std::string::npos);
}

TEST(Device, AnUnknownOneListsWhatExists) {
  const DeviceInventory machine = Machine({Gpu(DeviceKind::kVulkan, 0, "NVIDIA H200"), Software(1)});
  ExpectRefused(Choose("cpu:7", machine), {"cpu (", "'7'"});
  ExpectRefused(Choose("vulkan:7", machine), {"vulkan:0 (NVIDIA H200)", "vulkan:1 (llvmpipe", "software", "'7'"});
  ExpectRefused(Choose("vulkan:Radeon", machine), {"vulkan:0 (NVIDIA H200)", "'Radeon'"});
  ExpectRefused(Choose("vulkan:99999999999999999999", machine), {"vulkan:0"});
}

TEST(Device, AKindThatIsAbsentSaysWhatToDo) {
  ExpectRefused(Choose("cuda", Machine({})), {"device cuda", "no driver is installed; install one"});
  ExpectRefused(Choose("cuda:0", Machine({})), {"no driver is installed"});
}

TEST(Device, ByNumberUuidAndName) {
  const DeviceInventory machine = Machine(
      {Gpu(DeviceKind::kVulkan, 0, "NVIDIA L4", kUuidA), Gpu(DeviceKind::kVulkan, 1, "AMD Radeon RX 7900", kUuidB)});
  EXPECT_EQ(Choose("vulkan:1", machine)->info.index, 1);
  EXPECT_EQ(Choose("vulkan:01", machine)->info.index, 1);
  EXPECT_EQ(Choose("vulkan:8F010203-0405-0607-0809-0A0B0C0D0EFF", machine)->info.index, 0);
  EXPECT_EQ(Choose("vulkan:GPU-9f010203-0405-0607-0809-0a0b0c0d0eff", machine)->info.index, 1);
  EXPECT_EQ(Choose("vulkan:9f0102030405060708090a0b0c0d0eff", machine)->info.index, 1);
  EXPECT_EQ(Choose("vulkan:radeon", machine)->info.index, 1);
  ExpectRefused(Choose("vulkan:7900", machine), {"'7900'"});  // a number is an index, whatever names hold
}

TEST(Device, TwoOfOneNameAreRefusedWithTheirUuids) {
  const DeviceInventory machine =
      Machine({Gpu(DeviceKind::kVulkan, 0, "NVIDIA L4", kUuidA), Gpu(DeviceKind::kVulkan, 1, "NVIDIA L4", kUuidB),
               Gpu(DeviceKind::kVulkan, 2, "NVIDIA L40S")});
  ExpectRefused(Choose("vulkan:NVIDIA L4", machine), {kUuidA, kUuidB, "vulkan:0", "vulkan:1", "fits"});
  ExpectRefused(Choose("vulkan:nvidia", machine), {"vulkan:2"});
  EXPECT_EQ(Choose("vulkan:L40S", machine)->info.index, 2);
  EXPECT_EQ(Choose((std::string("vulkan:") + kUuidB).c_str(), machine)->info.index, 1);
}

TEST(Device, ASoftwareAdapterNeedsPermission) {
  const DeviceInventory machine = Machine({Software(0)});
  for (const char* selector : {"vulkan", "vulkan:0", "vulkan:llvmpipe"}) {
    ExpectRefused(Choose(selector, machine),
                  {"software adapter", "llvmpipe", "--allow-software-adapter", "calls it a CPU"});
    ChoicePolicy allowed = kAnyKind;
    allowed.allow_software_adapter = true;
    ASSERT_TRUE(Choose(selector, machine, allowed).ok()) << selector;
  }
}

TEST(Device, AutoNeverPicksASoftwareAdapterEvenWithPermission) {
  ChoicePolicy allowed = kAnyKind;
  allowed.allow_software_adapter = true;
  const auto chosen = Choose("auto", Machine({Software(0)}), allowed);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->info.kind, DeviceKind::kCpu);
  EXPECT_NE(chosen->reason.find("software adapter"), std::string::npos);
  EXPECT_NE(chosen->reason.find("no driver is installed"), std::string::npos);
}

TEST(Device, HardwareComesBeforeSoftware) {
  ChoicePolicy allowed = kAnyKind;
  allowed.allow_software_adapter = true;
  DeviceInfo integrated = Gpu(DeviceKind::kVulkan, 1, "Iris");
  integrated.gpu.device_type = "integrated";
  integrated.memory_total = uint64_t{64} << 30;
  DeviceInfo large = Gpu(DeviceKind::kVulkan, 3, "Large");
  large.memory_total = uint64_t{80} << 30;
  const DeviceInventory machine = Machine({Software(0), integrated, Gpu(DeviceKind::kVulkan, 2, "Small"), large});
  EXPECT_EQ(Choose("vulkan", machine, allowed)->info.name, "Large");
  EXPECT_EQ(Choose("auto", machine)->info.name, "Large");
}

TEST(Device, AutoTakesCudaFirstAndOnlyWhatPassed) {
  DeviceInfo cuda = Gpu(DeviceKind::kCuda, 0, "NVIDIA H200");
  const DeviceInfo vulkan = Gpu(DeviceKind::kVulkan, 0, "NVIDIA H200");
  EXPECT_EQ(Choose("auto", Machine({vulkan, cuda}))->info.kind, DeviceKind::kCuda);
  cuda.verdict = {State::kCrashed, "device", "the driver was killed by SIGSEGV in the phase device"};
  EXPECT_EQ(Choose("auto", Machine({vulkan, cuda}))->info.kind, DeviceKind::kVulkan);
}

TEST(Device, OneThatDidNotPassIsRefusedWithItsVerdict) {
  for (const State state : {State::kNotProbed, State::kFailed, State::kCrashed, State::kHung}) {
    DeviceInfo gpu = Gpu(DeviceKind::kCuda, 0, "NVIDIA H200");
    gpu.verdict = {state, "allocate", "it said why"};
    ExpectRefused(Choose("cuda:0", Machine({gpu})), {"cuda:0 (NVIDIA H200)", "it said why"});
    ExpectRefused(Choose("cuda", Machine({gpu})), {"it said why"});
    EXPECT_EQ(Choose("auto", Machine({gpu}))->info.kind, DeviceKind::kCpu);
  }
}

TEST(Device, OneThatTheEngineCannotRunOnIsRefusedAndNeverReplaced) {
  const DeviceInventory machine = Machine({Gpu(DeviceKind::kCuda, 0, "NVIDIA H200")});
  const ChoicePolicy cpu_alone = {false, {DeviceKind::kCpu}};
  ExpectRefused(Choose("cuda", machine, cpu_alone),
                {"NVIDIA H200", "is there and passed its probe", "this build has no cuda kernels"});
  const auto chosen = Choose("auto", machine, cpu_alone);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->info.kind, DeviceKind::kCpu);
  EXPECT_NE(chosen->reason.find("NVIDIA H200"), std::string::npos);
}

}  // namespace
}  // namespace candor
