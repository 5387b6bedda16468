// Broken machines, each made in a folder, and the sentences about them.
#include "probe/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "platform/test_folder.h"

namespace candor {
namespace {

using State = ProbeVerdict::State;

constexpr const char* kManifest =
    R"({"file_format_version": "1.0.0", "ICD": {"library_path": "%", "api_version": "1.3.0"}})";

std::string ManifestOf(const std::string& library) {
  std::string text = kManifest;
  return text.replace(text.find('%'), 1, library);
}

// A machine below a folder. At first it has a loader and nothing else.
class Diagnosis : public testing::Test {
 protected:
  void SetUp() override { folder_.Write("usr/lib/x86_64-linux-gnu/libvulkan.so.1", ""); }

  void AddNvidia(const std::string& kernel, const std::string& cuda, const std::string& graphics) {
    folder_.Write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + kernel +
                                                    "  Tue Sep 23 10:11:41 UTC 2025\nGCC version: gcc 12.2.0\n");
    folder_.Write("sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
    folder_.Write("sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
    if (!cuda.empty()) AddLibrary("libcuda.so.1", "libcuda.so." + cuda);
    if (graphics.empty()) return;
    AddLibrary("libGLX_nvidia.so.0", "libGLX_nvidia.so." + graphics);
    folder_.Write("usr/share/vulkan/icd.d/nvidia_icd.json", ManifestOf("libGLX_nvidia.so.0"));
  }
  void AddLibrary(const std::string& name, const std::string& real) {
    folder_.Write("usr/lib/x86_64-linux-gnu/" + real, "");
    std::filesystem::create_symlink(real, folder_.Path("usr/lib/x86_64-linux-gnu/" + name));
  }
  DriverFacts Facts() { return GatherDriverFacts(sources()); }
  FactSources sources() const { return {folder_.path(), environment_, access_}; }

  static std::vector<std::string> Ids(const std::vector<Finding>& findings) {
    std::vector<std::string> ids;
    for (const Finding& finding : findings) ids.push_back(finding.id);
    return ids;
  }
  static void ExpectOne(const std::vector<Finding>& findings, const std::string& id,
                        const std::vector<std::string>& parts) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.id == id; });
    ASSERT_NE(found, findings.end()) << id;
    for (const std::string& part : parts)
      EXPECT_NE(found->message.find(part), std::string::npos) << part << " in: " << found->message;
  }
  static ProbeResult Failure(const char* phase, StatusCode code, const char* message) {
    ProbeResult result;
    result.verdict = {State::kFailed, phase, message, false};
    result.code = code;
    return result;
  }
  static ProbeResult NoDevice() {
    return Failure("enumerate", StatusCode::kUnavailable, "vulkan vkCreateInstance: VK_ERROR_INCOMPATIBLE_DRIVER (-9)");
  }
  static ProbeResult Devices(std::vector<DeviceInfo> devices) {
    ProbeResult result;
    result.verdict.state = State::kPassed;
    result.devices = std::move(devices);
    return result;
  }
  static DeviceInfo Device(bool software) {
    DeviceInfo info;
    info.kind = DeviceKind::kVulkan;
    info.name = software ? "llvmpipe" : "NVIDIA L4";
    info.software = software;
    info.features = {"shaderFloat16", "float16"};
    return info;
  }

  TestFolder folder_;
  Environment environment_;
  std::function<int(const std::string&)> access_ = [](const std::string&) { return 0; };
};

TEST_F(Diagnosis, AHealthyMachineGetsNoFinding) {
  AddNvidia("580.95.05", "580.95.05", "580.95.05");
  folder_.Write("dev/nvidia0", "");
  const DriverFacts facts = Facts();
  EXPECT_EQ(facts.nvidia_kernel_version, "580.95.05");
  EXPECT_EQ(facts.cuda_library_version, "580.95.05");
  EXPECT_EQ(facts.gpu_vendors, std::vector<std::string>{"nvidia"});
  EXPECT_EQ(Ids(DiagnoseVulkan(facts, Devices({Device(false)}))), std::vector<std::string>{});
  EXPECT_EQ(Ids(DiagnoseCuda(facts, Devices({Device(false)}))), std::vector<std::string>{});
}

TEST_F(Diagnosis, AMachineWithoutAnNvidiaGpuNeedsNoCuda) {
  EXPECT_EQ(Ids(DiagnoseCuda(Facts(), Failure("loader", StatusCode::kNotFound, "libcuda.so.1: cannot open"))),
            std::vector<std::string>{});
}

TEST_F(Diagnosis, F1NoLoader) {
  folder_.Write("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
  const auto findings =
      DiagnoseVulkan(Facts(), Failure("loader", StatusCode::kNotFound, "libvulkan.so.1: cannot open"));
  ExpectOne(findings, "F1", {"libvulkan.so.1", "apt-get install libvulkan1"});
}

TEST_F(Diagnosis, F2NoManifestListsWhereItLooked) {
  environment_.home = "/users/me";
  const auto findings = DiagnoseVulkan(Facts(), NoDevice());
  ExpectOne(findings, "F2", {"/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/users/me/.local/share/vulkan/icd.d"});
}

TEST_F(Diagnosis, F2AVariableThatPointsNowhere) {
  environment_.drivers.vk_driver_files = "/nowhere/a.json";
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F2", {"VK_DRIVER_FILES", "'/nowhere/a.json'", "does not exist"});
  environment_.drivers.vk_driver_files.reset();
  environment_.drivers.vk_icd_filenames = "/nowhere/b.json";
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F2", {"VK_ICD_FILENAMES", "'/nowhere/b.json'"});
}

TEST_F(Diagnosis, F2BrokenManifestsAndThoseTurnedOff) {
  folder_.Write("etc/vulkan/icd.d/a.json", "{ no json");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F2", {"/etc/vulkan/icd.d/a.json", "it is no JSON"});
  folder_.Write("etc/vulkan/icd.d/a.json", "[]");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F2", {"\"ICD\""});
  folder_.Write("etc/vulkan/icd.d/a.json", R"({"ICD": {"library_path": 7}})");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F2", {"library_path"});
  folder_.Write("etc/vulkan/icd.d/a.json", ManifestOf("libvulkan.so.1"));
  environment_.drivers.vk_drivers_disable = "other*,a*";
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F2", {"turned off"});
}

TEST_F(Diagnosis, F3ComputeOnlyDriverWithPackageNames) {
  AddNvidia("580.95.05", "580.95.05", "");
  folder_.Write("etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F3",
            {"libnvidia-gl-580", "libnvidia-gl-580-server", "libegl1", "580.95.05", "-d cuda"});
  folder_.Write("etc/os-release", "ID=debian\n");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F3", {"nvidia-vulkan-icd", "580.95.05"});
  // Another driver's manifest does not make NVIDIA's GPU speak Vulkan.
  folder_.Write("usr/lib/x86_64-linux-gnu/libvulkan_lvp.so", "");
  folder_.Write("usr/share/vulkan/icd.d/lvp_icd.json", ManifestOf("libvulkan_lvp.so"));
  ExpectOne(DiagnoseVulkan(Facts(), Devices({Device(true)})), "F3", {"nvidia-vulkan-icd"});
}

TEST_F(Diagnosis, F4MissingAndUnloadableLibraries) {
  folder_.Write("etc/vulkan/icd.d/a.json", ManifestOf("/opt/libgone.so"));
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F4", {"/opt/libgone.so", "no such file"});
  folder_.Write("opt/libgone.so", "");
  EXPECT_EQ(Ids(DiagnoseVulkan(Facts(), NoDevice())), std::vector<std::string>{});
  DriverFacts facts = Facts();
  TryManifestLibraries(
      facts, [](const std::string& library) { return library + ": libEGL.so.1: cannot open shared object file"; });
  ExpectOne(DiagnoseVulkan(facts, NoDevice()), "F4", {"/opt/libgone.so", "libEGL.so.1"});
}

TEST_F(Diagnosis, F4ALibraryBesideItsManifestAndOneThatTheLinkerKnows) {
  folder_.Write("etc/vulkan/icd.d/a.json", ManifestOf("../libbeside.so"));
  folder_.Write("etc/vulkan/libbeside.so", "");
  folder_.Write("etc/vulkan/icd.d/b.json", ManifestOf("libelsewhere.so"));
  DriverFacts facts = Facts();
  ASSERT_EQ(facts.manifests.size(), 2u);
  EXPECT_EQ(facts.manifests[0].library_path, "/etc/vulkan/libbeside.so");
  EXPECT_EQ(facts.manifests[1].library_path, "");
  TryManifestLibraries(facts, [](const std::string&) { return ""; });
  EXPECT_EQ(Ids(DiagnoseVulkan(facts, NoDevice())), std::vector<std::string>{});
}

TEST_F(Diagnosis, F5VersionsThatDiffer) {
  AddNvidia("580.95.05", "575.51.03", "575.51.03");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F5",
            {"libGLX_nvidia.so.0 is of version 575.51.03", "580.95.05", "restart"});
  ExpectOne(DiagnoseCuda(Facts(), NoDevice()), "F5", {"libcuda.so.1 is of version 575.51.03", "580.95.05"});
}

TEST_F(Diagnosis, F6OnlySoftware) {
  ExpectOne(DiagnoseVulkan(Facts(), Devices({Device(true)})), "F6", {"llvmpipe", "--allow-software-adapter"});
}

TEST_F(Diagnosis, F7WhatADeviceOrLoaderLacks) {
  DeviceInfo old = Device(false);
  old.gpu.missing = {"Vulkan 1.3.0"};
  ExpectOne(DiagnoseVulkan(Facts(), Devices({old})), "F7", {"vulkan:0 (NVIDIA L4)", "lacks Vulkan 1.3.0"});
  ExpectOne(DiagnoseVulkan(Facts(), Failure("enumerate", StatusCode::kFailedPrecondition,
                                            "expected a Vulkan loader of version 1.3.0")),
            "F7", {"expected a Vulkan loader"});
}

TEST_F(Diagnosis, F8NoHalfFloats) {
  DeviceInfo device = Device(false);
  device.features.clear();
  ExpectOne(DiagnoseVulkan(Facts(), Devices({device})), "F8", {"32-bit floats"});
}

TEST_F(Diagnosis, F9DeviceFilesWithoutPermission) {
  AddNvidia("580.95.05", "580.95.05", "580.95.05");
  folder_.Write("dev/nvidia0", "");
  folder_.Write("dev/nvidia-uvm", "");  // no GPU of its own
  folder_.Write("dev/dri/renderD128", "");
  access_ = [](const std::string&) { return EACCES; };
  const auto vulkan = DiagnoseVulkan(Facts(), NoDevice());
  ExpectOne(vulkan, "F9", {"/dev/nvidia0", "Permission denied"});
  EXPECT_EQ(Ids(vulkan), (std::vector<std::string>{"F9", "F9"}));
  EXPECT_NE(vulkan.back().message.find("usermod -aG render"), std::string::npos);
  EXPECT_EQ(Ids(DiagnoseCuda(Facts(), NoDevice())), std::vector<std::string>{"F9"});
}

TEST_F(Diagnosis, F10ContainerWithoutGraphics) {
  AddNvidia("580.95.05", "580.95.05", "");
  folder_.Write(".dockerenv", "");
  environment_.drivers.nvidia_capabilities = "compute,utility";
  const auto findings = DiagnoseVulkan(Facts(), NoDevice());
  ExpectOne(findings, "F10", {"'compute,utility'", "NVIDIA_DRIVER_CAPABILITIES=graphics,compute,utility"});
  const std::vector<std::string> ids = Ids(findings);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "F3"), 0);
  environment_.drivers.nvidia_capabilities = "all";
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F3", {"580.95.05"});
}

TEST_F(Diagnosis, F25MigSlices) {
  AddNvidia("580.95.05", "580.95.05", "580.95.05");
  EXPECT_FALSE(Facts().mig);
  folder_.Write("proc/driver/nvidia/capabilities/gpu0/mig/gi7/access", "");
  ExpectOne(DiagnoseVulkan(Facts(), NoDevice()), "F25", {"MIG", "-d cuda"});
}

TEST_F(Diagnosis, CudaLibraryOrKernelModuleMissing) {
  const ProbeResult no_library = Failure("loader", StatusCode::kNotFound, "libcuda.so.1: cannot open");
  AddNvidia("580.95.05", "", "");
  ExpectOne(DiagnoseCuda(Facts(), no_library), "F4", {"libcuda.so.1 is missing", "libnvidia-compute-580"});
  folder_.Write("run/.containerenv", "");
  ExpectOne(DiagnoseCuda(Facts(), no_library), "F10", {"NVIDIA_DRIVER_CAPABILITIES=compute,utility"});
  std::filesystem::remove(folder_.Path("proc/driver/nvidia/version"));
  ExpectOne(DiagnoseCuda(Facts(), no_library), "F3", {"kernel module is not loaded"});
}

TEST_F(Diagnosis, TheFingerprintChangesWithTheDriversAndOnlyThen) {
  AddNvidia("580.95.05", "580.95.05", "580.95.05");
  const auto fingerprint = [this] { return DriverFingerprint(Facts(), sources()); };
  const std::string first = fingerprint();
  folder_.Write("etc/unrelated", "x");
  EXPECT_EQ(fingerprint(), first);
  folder_.Write("usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "another size");
  const std::string updated = fingerprint();
  EXPECT_NE(updated, first);
  environment_.drivers.cuda_visible_devices = "1";
  EXPECT_NE(fingerprint(), updated);
}

}  // namespace
}  // namespace candor
