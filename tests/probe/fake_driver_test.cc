// The probe against drivers that crash, hang, lie and fail: this process lives, and the verdict names the phase.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "platform/dynamic_library.h"
#include "platform/test_folder.h"
#include "platform/text_file.h"
#include "probe/gpu_canaries.h"
#include "probe/probe_devices.h"

namespace candor {
namespace {

using State = ProbeVerdict::State;

const std::string kManifest = CANDOR_FAKE_DRIVERS "/vulkan/fake_icd.json";
constexpr const char* kFault = "CANDOR_FAKE_DRIVER";
constexpr auto kShort = std::chrono::milliseconds(4000);  // for what hangs; a healthy phase takes far less

struct Fault {
  const char* fault;
  State state;
  const char* phase;
  const char* text;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.fault; }

ProbeSettings Settings(DeviceKind kind, const std::string& fault) {
  ProbeSettings settings;
  settings.program = *FindProbeProgram();
  settings.self_test = false;  // the fakes have no processor that kernels could run on
  if (kind == DeviceKind::kVulkan) {
    settings.variables = {{"VK_DRIVER_FILES", kManifest}, {"VK_ICD_FILENAMES", ""}, {"VK_ADD_DRIVER_FILES", ""}};
  } else {
    settings.variables = {{"LD_LIBRARY_PATH", CANDOR_FAKE_DRIVERS "/cuda"}};
  }
  settings.variables.emplace_back(kFault, fault);
  settings.variables.emplace_back("ASAN_OPTIONS", "detect_leaks=0");  // a driver's leaks are its own
  if (fault.find("hang") != std::string::npos) settings.deadline = kShort;
  return settings;
}

// Lists, then tries the first device, as `candor devices` does.
ProbeResult Probe(DeviceKind kind, const std::string& fault) {
  const ProbeSettings settings = Settings(kind, fault);
  ProbeResult listing = ListWithProbe(settings, kind);
  if (listing.verdict.state != State::kPassed || listing.devices.empty()) return listing;
  return TryWithProbe(settings, listing.devices.front());
}

void ExpectVerdict(DeviceKind kind, const Fault& fault) {
  const ProbeResult result = Probe(kind, fault.fault);
  EXPECT_EQ(VerdictName(result.verdict.state), VerdictName(fault.state)) << result.verdict.message;
  EXPECT_EQ(result.verdict.phase, fault.phase) << result.verdict.message;
  EXPECT_NE(result.verdict.message.find(fault.text), std::string::npos) << result.verdict.message;
}

#define CANDOR_NEEDS_A_LOADER() \
  if (!DynamicLibrary::Open("libvulkan.so.1").ok()) GTEST_SKIP() << "NOT RUN: no Vulkan loader (libvulkan.so.1) here"

class VulkanFaults : public testing::TestWithParam<Fault> {};
TEST_P(VulkanFaults, TheVerdictNamesThePhase) {
  CANDOR_NEEDS_A_LOADER();
  ExpectVerdict(DeviceKind::kVulkan, GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    All, VulkanFaults,
    testing::Values(Fault{"", State::kPassed, "", ""}, Fault{"enumerate:noise", State::kPassed, "", ""},
                    Fault{"device:noise", State::kPassed, "", ""},
                    Fault{"open:segv", State::kCrashed, "enumerate", "SIGSEGV"},
                    Fault{"negotiate:abort", State::kCrashed, "enumerate", "SIGABRT"},
                    Fault{"enumerate:segv", State::kCrashed, "enumerate",
                          "crashed in the phase enumerate: its process was killed by SIGSEGV"},
                    Fault{"enumerate:abort", State::kCrashed, "enumerate", "SIGABRT"},
                    Fault{"enumerate:exit", State::kCrashed, "enumerate", "exited with code 0"},
                    Fault{"enumerate:hang", State::kHung, "enumerate", "hung in the phase enumerate"},
                    Fault{"enumerate:error", State::kFailed, "enumerate", "VK_ERROR_"},
                    Fault{"enumerate:old", State::kFailed, "device", "lacks Vulkan 1.3"},
                    Fault{"enumerate:lacking", State::kFailed, "device", "bufferDeviceAddress"},
                    Fault{"enumerate:vanish", State::kFailed, "enumerate", "unplugged"},
                    Fault{"device:segv", State::kCrashed, "device", "SIGSEGV"},
                    Fault{"device:abort", State::kCrashed, "device", "SIGABRT"},
                    Fault{"device:hang", State::kHung, "device", "hung in the phase device"},
                    Fault{"device:error", State::kFailed, "device", "VK_ERROR_INITIALIZATION_FAILED"},
                    Fault{"device:lost", State::kFailed, "device", "VK_ERROR_DEVICE_LOST"},
                    Fault{"allocate:segv", State::kCrashed, "allocate", "SIGSEGV"},
                    Fault{"allocate:hang", State::kHung, "allocate", "hung in the phase allocate"},
                    Fault{"allocate:error", State::kFailed, "allocate", "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
                    Fault{"allocate:unmapped", State::kFailed, "allocate", "vkMapMemory"},
                    Fault{"allocate:lost", State::kFailed, "allocate", "VK_ERROR_DEVICE_LOST"},
                    Fault{"allocate:lie", State::kFailed, "allocate", "got another value at byte"},
                    Fault{"destroy:segv", State::kCrashed, "destroy", "SIGSEGV"},
                    Fault{"destroy:hang", State::kHung, "destroy", "hung in the phase destroy"}));

// A driver that takes kernels and does not run them, or does worse.
class SelfTest : public testing::TestWithParam<Fault> {};
TEST_P(SelfTest, AdmitsNoDeviceWhoseKernelsDoNotWork) {
  CANDOR_NEEDS_A_LOADER();
  if (!HasGpuKernels()) GTEST_SKIP() << "NOT RUN: a build without GPU kernels";
  ProbeSettings settings = Settings(DeviceKind::kVulkan, GetParam().fault);
  const ProbeResult listing = ListWithProbe(settings, DeviceKind::kVulkan);
  ASSERT_EQ(listing.devices.size(), 1u) << listing.verdict.message;
  settings.self_test = true;
  const ProbeResult result = TryWithProbe(settings, listing.devices.front());
  EXPECT_EQ(VerdictName(result.verdict.state), VerdictName(GetParam().state)) << result.verdict.message;
  EXPECT_EQ(result.verdict.phase, GetParam().phase) << result.verdict.message;
  EXPECT_NE(result.verdict.message.find(GetParam().text), std::string::npos) << result.verdict.message;
}
INSTANTIATE_TEST_SUITE_P(All, SelfTest,
                         testing::Values(Fault{"", State::kFailed, "compute",
                                               "self-test 'product of 1 rows': expected"},
                                         Fault{"compile:segv", State::kCrashed, "compile", "SIGSEGV"},
                                         Fault{"compile:hang", State::kHung, "compile", "hung in the phase compile"},
                                         Fault{"compile:error", State::kFailed, "compile", "vkCreateComputePipelines"},
                                         Fault{"compile:none", State::kFailed, "compile", "expected a pipeline"},
                                         Fault{"compute:abort", State::kCrashed, "compute", "SIGABRT"},
                                         Fault{"compute:hang", State::kHung, "compute", "hung in the phase compute"},
                                         Fault{"compute:error", State::kFailed, "compute", "VK_ERROR_DEVICE_LOST"}));

class CudaFaults : public testing::TestWithParam<Fault> {};
TEST_P(CudaFaults, TheVerdictNamesThePhase) { ExpectVerdict(DeviceKind::kCuda, GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    All, CudaFaults,
    testing::Values(Fault{"", State::kPassed, "", ""}, Fault{"enumerate:noise", State::kPassed, "", ""},
                    Fault{"enumerate:segv", State::kCrashed, "enumerate", "SIGSEGV"},
                    Fault{"enumerate:abort", State::kCrashed, "enumerate", "SIGABRT"},
                    Fault{"enumerate:hang", State::kHung, "enumerate", "hung in the phase enumerate"},
                    Fault{"enumerate:error", State::kFailed, "enumerate", "CUDA_ERROR_NO_DEVICE (100)"},
                    Fault{"enumerate:mismatch", State::kFailed, "enumerate", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"},
                    Fault{"enumerate:garbage", State::kFailed, "enumerate", "got -7"},
                    Fault{"enumerate:old", State::kFailed, "device", "lacks compute capability 7.5"},
                    Fault{"device:segv", State::kCrashed, "device", "SIGSEGV"},
                    Fault{"device:error", State::kFailed, "device", "(46)"},
                    Fault{"allocate:hang", State::kHung, "allocate", "hung in the phase allocate"},
                    Fault{"allocate:error", State::kFailed, "allocate", "cuMemAlloc of 64.0 MiB"},
                    Fault{"allocate:lie", State::kFailed, "allocate", "got another value at byte 0"},
                    Fault{"destroy:abort", State::kCrashed, "destroy", "SIGABRT"}));

TEST(FakeVulkan, IdentityIsComplete) {
  CANDOR_NEEDS_A_LOADER();
  const ProbeResult result = ListWithProbe(Settings(DeviceKind::kVulkan, ""), DeviceKind::kVulkan);
  ASSERT_EQ(result.devices.size(), 1u) << result.verdict.message;
  const DeviceInfo& info = result.devices.front();
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.gpu.uuid, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
  EXPECT_EQ(info.gpu.pci, "0000:17:00.0");
  EXPECT_EQ(info.gpu.device_type, "discrete");
  EXPECT_EQ(info.gpu.driver_version, "1.2.3");
  EXPECT_EQ(info.gpu.driver_info, "Fake driver 1.2.3");
  EXPECT_EQ(info.gpu.api_version, "1.3.230");
  EXPECT_EQ(info.gpu.subgroup_size, 32u);
  EXPECT_EQ(info.gpu.limits.shared_memory, 49152u);
  EXPECT_EQ(info.memory_total, uint64_t{8} << 30);
  EXPECT_EQ(info.memory_available, uint64_t{7} << 30);  // the budget less what is used
  EXPECT_FALSE(info.software);
  EXPECT_TRUE(info.gpu.missing.empty());
  EXPECT_NE(result.library.find("libvulkan.so"), std::string::npos);
}

TEST(FakeVulkan, GarbageIsMadeHarmless) {
  CANDOR_NEEDS_A_LOADER();
  const ProbeResult result = ListWithProbe(Settings(DeviceKind::kVulkan, "enumerate:garbage"), DeviceKind::kVulkan);
  ASSERT_EQ(result.devices.size(), 1u) << result.verdict.message;
  EXPECT_TRUE(result.devices.front().name.starts_with("\\x1b[2J\\xff\\xff")) << result.devices.front().name;
  EXPECT_LE(result.devices.front().gpu.heaps.size(), 16u);
}

TEST(FakeCuda, IdentityIsComplete) {
  const ProbeSettings settings = Settings(DeviceKind::kCuda, "enumerate:twins");
  const ProbeResult result = ListWithProbe(settings, DeviceKind::kCuda);
  ASSERT_EQ(result.devices.size(), 2u) << result.verdict.message;
  const DeviceInfo& info = result.devices[1];
  EXPECT_EQ(info.name, "Fake CUDA GPU");
  EXPECT_EQ(info.gpu.uuid, "c0c1c2c3-c4c5-c6c7-c8c9-cacbcccdce01");
  EXPECT_EQ(info.gpu.compute_capability, "9.0");
  EXPECT_EQ(info.gpu.api_version, "13.0");
  EXPECT_EQ(info.memory_total, uint64_t{16} << 30);
  EXPECT_EQ(TryWithProbe(settings, info).memory_available, uint64_t{15} << 30);
}

TEST(ProbeProgram, AMissingOrForeignOneIsAFailureOfTheStart) {
  for (const char* program : {"/nowhere/candor-probe", "/bin/true", "/bin/echo"}) {
    ProbeSettings settings;
    settings.program = program;
    const ProbeResult result = ListWithProbe(settings, DeviceKind::kVulkan);
    EXPECT_EQ(result.verdict.state, State::kFailed);
    EXPECT_EQ(result.verdict.phase, "start");
    EXPECT_NE(result.verdict.message.find(program), std::string::npos) << result.verdict.message;
  }
}

TEST(ProbeProgram, LibrariesAreTriedInAChild) {
  const ProbeSettings settings = Settings(DeviceKind::kVulkan, "open:segv");
  EXPECT_EQ(LibraryError(settings, "libm.so.6"), "");
  EXPECT_NE(LibraryError(settings, "libcandor_no_such.so").find("cannot open"), std::string::npos);
  const std::string crash = LibraryError(settings, CANDOR_FAKE_DRIVERS "/vulkan/libcandor_fake_icd.so");
  EXPECT_NE(crash.find("SIGSEGV"), std::string::npos) << crash;
}

// A machine with the fake GPU alone, whose faults come and go while its files stay the same.
class Machine : public testing::Test {
 protected:
  void SetUp() override {
    CANDOR_NEEDS_A_LOADER();
    options_.environment.xdg_cache_home = folder_.Path("cache");
    options_.environment.drivers.vk_driver_files = kManifest;
    options_.kinds = {DeviceKind::kVulkan};
    options_.settings = Settings(DeviceKind::kVulkan, "");
    std::erase_if(options_.settings.variables, [](const auto& variable) { return variable.first == kFault; });
  }
  void TearDown() override { unsetenv(kFault); }

  // The fault reaches the child through this process's own variables, so that it is no part of the key.
  ProbedDevices Probe(const std::string& fault, bool retry = false, bool cached_is_enough = false) {
    setenv(kFault, fault.c_str(), 1);
    options_.retry = retry;
    options_.cached_is_enough = cached_is_enough;
    options_.settings.deadline = fault.find("hang") != std::string::npos ? std::optional(kShort) : std::nullopt;
    return ProbeDevices(options_);
  }
  static ProbeVerdict VerdictOf(const ProbedDevices& probed) {
    for (const DeviceInfo& info : probed.inventory.devices) {
      if (info.kind == DeviceKind::kVulkan) return info.verdict;
    }
    return {State::kNotProbed, "", probed.inventory.absent.empty() ? "absent" : probed.inventory.absent.front().reason,
            false};
  }

  TestFolder folder_;
  ProbeOptions options_;
};

TEST_F(Machine, APassedVerdictIsKeptForAQuickStart) {
  EXPECT_FALSE(VerdictOf(Probe("", false, true)).cached);
  const ProbeVerdict kept = VerdictOf(Probe("device:segv", false, true));  // the driver is not asked
  EXPECT_EQ(kept.state, State::kPassed);
  EXPECT_TRUE(kept.cached);
  EXPECT_EQ(VerdictOf(Probe("device:segv")).state, State::kCrashed);  // `candor devices` asks it
}

TEST_F(Machine, ADeviceThatCrashesIsLeftAloneUntilARetry) {
  EXPECT_EQ(VerdictOf(Probe("device:segv")).state, State::kCrashed);
  const ProbeVerdict kept = VerdictOf(Probe(""));  // healthy now, and not tried
  EXPECT_EQ(kept.state, State::kCrashed);
  EXPECT_EQ(kept.phase, "device");
  EXPECT_TRUE(kept.cached);
  EXPECT_NE(kept.message.find("--retry-probe"), std::string::npos) << kept.message;
  EXPECT_EQ(VerdictOf(Probe("", true)).state, State::kPassed);
  EXPECT_EQ(VerdictOf(Probe("")).state, State::kPassed);
}

TEST_F(Machine, ADriverThatHangsAtTheStartIsLeftAloneUntilARetry) {
  EXPECT_NE(VerdictOf(Probe("enumerate:hang")).message.find("hung in the phase enumerate"), std::string::npos);
  const ProbeVerdict kept = VerdictOf(Probe(""));
  EXPECT_NE(kept.message.find("--retry-probe"), std::string::npos) << kept.message;
  EXPECT_EQ(VerdictOf(Probe("", true)).state, State::kPassed);
}

TEST_F(Machine, AnOrdinaryFailureIsTriedAgain) {
  EXPECT_EQ(VerdictOf(Probe("allocate:error")).state, State::kFailed);
  EXPECT_EQ(VerdictOf(Probe("")).state, State::kPassed);
}

TEST_F(Machine, AnotherStateOfTheDriversIsAnotherVerdict) {
  EXPECT_EQ(VerdictOf(Probe("device:abort")).state, State::kCrashed);
  options_.environment.drivers.vk_add_driver_files = "/none.json";  // any of what chooses drivers
  EXPECT_EQ(VerdictOf(Probe("")).state, State::kPassed);
}

TEST_F(Machine, ADamagedCacheCountsAsNone) {
  EXPECT_EQ(VerdictOf(Probe("device:segv")).state, State::kCrashed);
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.Path("cache/candor"))) path = entry.path();
  const std::string whole = *ReadSmallTextFile(path);
  std::string flipped = whole;
  flipped[whole.size() - 20] ^= 1;
  for (const std::string& damaged :
       {std::string(), std::string("{"), whole.substr(0, whole.size() / 2), flipped, whole + "x"}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(VerdictOf(Probe("")).state, State::kPassed) << damaged.size();
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  EXPECT_EQ(VerdictOf(Probe("")).state, State::kCrashed);  // the undamaged one counts
}

TEST_F(Machine, AFolderThatCannotBeWrittenIsNotedAndNoMore) {
  options_.environment.xdg_cache_home = folder_.Write("file", "no folder");
  ProbedDevices probed = Probe("");
  EXPECT_EQ(VerdictOf(probed).state, State::kPassed);
  ASSERT_EQ(probed.notes.size(), 1u);
  EXPECT_NE(probed.notes.front().find("verdicts are not kept"), std::string::npos);
  options_.environment.xdg_cache_home.reset();
  probed = Probe("");
  EXPECT_EQ(VerdictOf(probed).state, State::kPassed);
  ASSERT_EQ(probed.notes.size(), 1u);
  EXPECT_NE(probed.notes.front().find("HOME"), std::string::npos);
}

TEST_F(Machine, TheDriverAmongSeveralThatCrashesIsNamed) {
  const std::string other = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
  if (!std::filesystem::exists(other)) GTEST_SKIP() << "NOT RUN: no second driver (Mesa's llvmpipe) here";
  const std::string both = kManifest + ":" + other;
  options_.environment.drivers.vk_driver_files = both;
  options_.settings.variables[0].second = both;
  const std::string reason = VerdictOf(Probe("enumerate:segv")).message;
  EXPECT_NE(reason.find("it is the driver of " + kManifest + ":"), std::string::npos) << reason;
}

TEST_F(Machine, AMissingProbeProgramLeavesTheCpu) {
  options_.settings.program = "/nowhere/candor-probe";
  const ProbedDevices probed = Probe("");
  ASSERT_EQ(probed.inventory.devices.size(), 1u);
  EXPECT_EQ(probed.inventory.devices.front().kind, DeviceKind::kCpu);
  EXPECT_NE(VerdictOf(probed).message.find("/nowhere/candor-probe"), std::string::npos);
}

TEST(Llvmpipe, PassesItsProbeAndIsMarkedAsSoftware) {
  const std::string manifest = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
  if (!std::filesystem::exists(manifest) || !DynamicLibrary::Open("libvulkan.so.1").ok())
    GTEST_SKIP() << "NOT RUN: Mesa's llvmpipe is not installed here";
  ProbeSettings settings = Settings(DeviceKind::kVulkan, "");
  settings.variables[0].second = manifest;
  const ProbeResult listing = ListWithProbe(settings, DeviceKind::kVulkan);
  ASSERT_EQ(listing.devices.size(), 1u) << listing.verdict.message;
  EXPECT_TRUE(listing.devices.front().software);
  EXPECT_TRUE(listing.devices.front().gpu.missing.empty());
  const ProbeResult result = TryWithProbe(settings, listing.devices.front());
  EXPECT_EQ(result.verdict.state, State::kPassed) << result.verdict.message;
}

}  // namespace
}  // namespace candor
