// A CUDA device that is open for work, on the fake libcuda: what it does, and what is left when any of it fails.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <thread>

#include "base/check.h"
#include "device/cuda/cuda_device.h"

namespace candor {
namespace {

const std::string kLibrary = CANDOR_FAKE_DRIVERS "/cuda/libcuda.so.1";
constexpr const char* kFault = "CANDOR_FAKE_DRIVER";
constexpr const char* kUuid = "c0c1c2c3-c4c5-c6c7-c8c9-cacbcccdce00";
constexpr std::string_view kModule = "fake module, and what is behind the end";
constexpr uint32_t kWords = 1000;
constexpr uint32_t kThreads = 64;

// The parameters of the fake's one kernel: to[i] = from[i] + value.
struct AddParameters {
  uint64_t to;
  uint64_t from;
  uint32_t words;
  uint32_t value;
};

GpuDispatch Add(GpuKernelId kernel, const GpuBuffer& to, const GpuBuffer& from, uint32_t value) {
  GpuDispatch dispatch;
  dispatch.kernel = kernel;
  dispatch.grid = {(kWords + kThreads - 1) / kThreads, 1, 1};
  dispatch.parameter_bytes = sizeof(AddParameters);
  const AddParameters parameters = {to.address(), from.address(), kWords, value};
  memcpy(dispatch.parameters.data(), &parameters, sizeof(parameters));
  return dispatch;
}

GpuCopy CopyOf(const GpuBuffer& to, const GpuBuffer& from) { return {{&from, 0}, {&to, 0}, kWords * sizeof(uint32_t)}; }

uint32_t* Words(const GpuBuffer& buffer) { return reinterpret_cast<uint32_t*>(buffer.host()); }

Status ExpectWords(const GpuBuffer& buffer, uint32_t first) {
  for (uint32_t i = 0; i < kWords; ++i) {
    if (Words(buffer)[i] != first + i) return DataLossError("word {}: {}", i, Words(buffer)[i]);
  }
  return OkStatus();
}

Result<GpuKernelId> LoadAdd(GpuDevice& device) {
  const auto code = std::as_bytes(std::span(kModule.substr(0, kModule.find(','))));
  CANDOR_ASSIGN_OR_RETURN(const GpuModuleId module, device.LoadModule("arithmetic", code));
  return device.LoadKernel(module, "add", kThreads);
}

// Four buffers of the device and three of the host, with numbers in the first of either.
struct Buffers {
  std::unique_ptr<GpuBuffer> a, b, c, d, in, out, other;

  Status Allocate(GpuDevice& device) {
    for (std::unique_ptr<GpuBuffer>* buffer : {&a, &b, &c, &d}) {
      CANDOR_ASSIGN_OR_RETURN(*buffer, device.Allocate(kWords * 4, GpuMemoryKind::kDevice, "numbers"));
    }
    for (std::unique_ptr<GpuBuffer>* buffer : {&in, &out, &other}) {
      CANDOR_ASSIGN_OR_RETURN(*buffer, device.Allocate(kWords * 4, GpuMemoryKind::kHost, "results"));
    }
    Fill(0);
    const GpuCopy copies[] = {CopyOf(*d, *in), CopyOf(*a, *d)};
    return device.Copy(copies);
  }
  void Fill(uint32_t first) const {
    for (uint32_t i = 0; i < kWords; ++i) Words(*in)[i] = first + i;
  }
  // out = in + 11 and other = in + 22, in five stages of which one is empty. Overlapping stages would see each other's
  // halves: a is read in the second and written in the third.
  std::vector<GpuStage> Stages(GpuKernelId add) const {
    return {{CopyOf(*a, *in)},
            {Add(add, *b, *a, 1), Add(add, *c, *a, 2)},
            {},
            {Add(add, *a, *b, 10), Add(add, *d, *c, 20)},
            {CopyOf(*out, *a), CopyOf(*other, *d)}};
  }
};

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto library = DynamicLibrary::Open(kLibrary);
    ASSERT_TRUE(library.ok()) << library.status().message();
    library_ = std::move(*library);
    Reset("");
    info_.kind = DeviceKind::kCuda;
    info_.name = "Fake CUDA GPU";
    info_.gpu.uuid = kUuid;
  }
  void TearDown() override {
    EXPECT_EQ(Count("misuses"), 0);
    EXPECT_EQ(Count("blocked"), 0);
    Reset("");
  }

  void Reset(const std::string& fault) {
    setenv(kFault, fault.c_str(), 1);
    reinterpret_cast<void (*)()>(library_.Symbol("candor_fake_reset"))();
  }
  int Count(const char* what) const {
    return reinterpret_cast<int (*)(const char*)>(library_.Symbol("candor_fake_count"))(what);
  }
  Result<std::unique_ptr<GpuDevice>> Open() const { return OpenCudaDevice(info_, settings_); }
  // Everything that a device does, with two runs of one recording.
  Status Work(GpuDevice& device) {
    CANDOR_ASSIGN_OR_RETURN(const GpuKernelId add, LoadAdd(device));
    Buffers buffers;
    CANDOR_RETURN_IF_ERROR(buffers.Allocate(device));
    CANDOR_ASSIGN_OR_RETURN(const std::unique_ptr<GpuRecording> recording, device.Record(buffers.Stages(add)));
    EXPECT_EQ(recording->dispatches(), 4u);
    for (const uint32_t first : {100u, 5000u}) {
      buffers.Fill(first);
      CANDOR_ASSIGN_OR_RETURN(const double milliseconds, recording->Run());
      EXPECT_EQ(milliseconds, 0.25);
      CANDOR_RETURN_IF_ERROR(ExpectWords(*buffers.out, first + 11));
      CANDOR_RETURN_IF_ERROR(ExpectWords(*buffers.other, first + 22));
    }
    CANDOR_RETURN_IF_ERROR(device.FreeMemory().status());
    calls_of_work_ = Count("calls");
    return OkStatus();
  }
  Status OpenAndWork() {
    CANDOR_ASSIGN_OR_RETURN(const std::unique_ptr<GpuDevice> device, Open());
    return Work(*device);
  }
  void ExpectNothingLeft() const {
    EXPECT_EQ(Count("live"), 0);
    EXPECT_EQ(Count("contexts"), 0);
  }

  // Lets the first, the second, … fail until nothing is left to fail; how often that was.
  int FailEach(const std::string& place, StatusCode code, const std::string& text) {
    for (int turn = 1;; ++turn) {
      SCOPED_TRACE(place + ":" + std::to_string(turn));
      Reset(place + ":" + std::to_string(turn));
      const Status status = OpenAndWork();
      ExpectNothingLeft();
      EXPECT_EQ(Count("misuses"), 0);
      if (status.ok() || HasFailure()) return turn - 1;
      EXPECT_EQ(StatusCodeName(status.code()), std::string(StatusCodeName(code))) << status.message();
      EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
      setenv(kFault, "", 1);
      const Status again = OpenAndWork();
      EXPECT_TRUE(again.ok()) << again.message();
      ExpectNothingLeft();
    }
  }

  // Every door of a device that is lost.
  static void ExpectRefusal(GpuDevice& device, GpuRecording& recording, const Buffers& buffers) {
    const GpuStage stage = {CopyOf(*buffers.a, *buffers.in)};
    const GpuCopy copy = CopyOf(*buffers.a, *buffers.in);
    const Status refusals[] = {recording.Run().status(),
                               device.FreeMemory().status(),
                               device.Allocate(4, GpuMemoryKind::kDevice, "more").status(),
                               LoadAdd(device).status(),
                               device.LoadKernel(0, "add", 1).status(),
                               device.Record({&stage, 1}).status(),
                               device.Copy({&copy, 1})};
    for (const Status& refusal : refusals) {
      EXPECT_EQ(refusal.code(), StatusCode::kUnavailable);
      EXPECT_NE(refusal.message().find("device cuda:0 (Fake CUDA GPU): it stopped working"), std::string::npos)
          << refusal.message();
    }
  }

  DynamicLibrary library_;
  DeviceInfo info_;
  int calls_of_work_ = 0;  // up to the end of the last work that went well
  CudaWorkSettings settings_{kLibrary, std::chrono::milliseconds(50)};
};

TEST_F(CudaDeviceTest, DoesItsWork) {
  {
    auto device = Open();
    ASSERT_TRUE(device.ok()) << device.status().message();
    EXPECT_EQ((*device)->info().gpu.uuid, kUuid);
    EXPECT_EQ((*device)->info().gpu.compute_capability, "9.0");
    EXPECT_EQ(*(*device)->FreeMemory(), uint64_t{15} << 30);
    const Status status = Work(**device);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(Count("depth"), 4);        // what a stage holds runs side by side
    EXPECT_EQ(Count("submissions"), 4);  // two copies, and one a run
  }
  ExpectNothingLeft();
}

TEST_F(CudaDeviceTest, BuffersAreAlignedAndNeverEmpty) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  for (const GpuMemoryKind kind : {GpuMemoryKind::kDevice, GpuMemoryKind::kHost}) {
    auto buffer = (*device)->Allocate(0, kind, "nothing");
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ((*buffer)->bytes(), 4u);
    EXPECT_EQ((*buffer)->address() % 256, 0u);
    EXPECT_EQ((*buffer)->host() == nullptr, kind == GpuMemoryKind::kDevice);
  }
}

TEST_F(CudaDeviceTest, AWideStageTakesTurnsOnTheLanes) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  const GpuKernelId add = *LoadAdd(**device);
  Buffers buffers;
  ASSERT_TRUE(buffers.Allocate(**device).ok());
  constexpr size_t kCommands = 20;
  std::vector<std::unique_ptr<GpuBuffer>> outputs;
  GpuStage stage;
  for (uint32_t i = 0; i < kCommands; ++i) {
    outputs.push_back(*(*device)->Allocate(kWords * 4, GpuMemoryKind::kHost, "outputs"));
    stage.emplace_back(Add(add, *outputs.back(), *buffers.in, i));
  }
  auto recording = (*device)->Record({&stage, 1});
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  ASSERT_TRUE((*recording)->Run().ok());
  EXPECT_EQ(Count("depth"), 3);  // 20 commands on 8 streams
  for (uint32_t i = 0; i < kCommands; ++i) EXPECT_TRUE(ExpectWords(*outputs[i], i).ok()) << i;
}

TEST_F(CudaDeviceTest, NothingToDoIsDone) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  const GpuKernelId add = *LoadAdd(**device);
  Buffers buffers;
  ASSERT_TRUE(buffers.Allocate(**device).ok());
  GpuDispatch none = Add(add, *buffers.a, *buffers.a, 1);
  none.grid = {1, 0, 1};
  GpuCopy empty = CopyOf(*buffers.a, *buffers.in);
  empty.bytes = 0;
  const GpuStage stages[] = {{}, {none, empty}};
  auto recording = (*device)->Record(stages);
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  EXPECT_TRUE((*recording)->Run().ok());
  EXPECT_TRUE((*device)->Copy({}).ok());
}

TEST_F(CudaDeviceTest, PlacesOfACopyAreOffsets) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  Buffers buffers;
  ASSERT_TRUE(buffers.Allocate(**device).ok());
  buffers.Fill(7);
  const GpuCopy copy = {{buffers.in.get(), 8}, {buffers.out.get(), 16}, 12};
  ASSERT_TRUE((*device)->Copy({&copy, 1}).ok());
  EXPECT_EQ(memcmp(Words(*buffers.out) + 4, Words(*buffers.in) + 2, 12), 0);
}

#ifdef NDEBUG
TEST_F(CudaDeviceTest, ACopyBeyondABufferIsOurOwnBug) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  Buffers buffers;
  ASSERT_TRUE(buffers.Allocate(**device).ok());
  GpuCopy copy = CopyOf(*buffers.out, *buffers.in);
  copy.to.offset = 4;
  const GpuStage stage = {copy};
  EXPECT_THROW((void)(*device)->Copy({&copy, 1}), CheckFailure);
  EXPECT_THROW((void)(*device)->Record({&stage, 1}), CheckFailure);
  EXPECT_TRUE(Work(**device).ok());
}
#endif

TEST_F(CudaDeviceTest, AnotherThreadMayTakeOver) {
  std::unique_ptr<GpuDevice> device;
  std::thread([&] { device = *Open(); }).join();
  std::thread([&] { EXPECT_TRUE(Work(*device).ok()); }).join();
  device.reset();
  ExpectNothingLeft();
}

TEST_F(CudaDeviceTest, TwoDevicesDoNotDisturbEachOther) {
  auto first = Open();
  auto second = Open();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(Work(**first).ok());
  first->reset();
  EXPECT_TRUE(Work(**second).ok());
  second->reset();
  ExpectNothingLeft();
}

TEST_F(CudaDeviceTest, AnyCallMayFail) {
  ASSERT_TRUE(OpenAndWork().ok());
  const int calls = calls_of_work_;
  EXPECT_EQ(FailEach("call", StatusCode::kUnavailable, "CUDA_ERROR_UNKNOWN (999)"), calls);
}

TEST_F(CudaDeviceTest, MemoryMayRunOutAnywhere) {
  EXPECT_GT(FailEach("memory", StatusCode::kResourceExhausted, "CUDA_ERROR_OUT_OF_MEMORY (2)"), 25);
}

TEST_F(CudaDeviceTest, AnySubmissionMayFail) {
  EXPECT_EQ(FailEach("submit", StatusCode::kUnavailable, "CUDA_ERROR_LAUNCH_FAILED (719)"), 4);
}

// The two copies are waited for together, so that the first of them alone is never the last submission.
TEST_F(CudaDeviceTest, TheDeviceMayBeLostInAnyRun) {
  for (const int run : {2, 3, 4}) {
    Reset("lost:" + std::to_string(run));
    const Status status = OpenAndWork();
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("it stopped working (cuda cuStreamQuery: CUDA_ERROR_LAUNCH_FAILED (719)"),
              std::string::npos)
        << status.message();
    ExpectNothingLeft();
    setenv(kFault, "", 1);
    EXPECT_TRUE(OpenAndWork().ok());
  }
}

TEST_F(CudaDeviceTest, ALostDeviceRefusesFurtherWork) {
  {
    std::unique_ptr<GpuDevice> device = *Open();
    const GpuKernelId add = *LoadAdd(*device);
    Buffers buffers;
    ASSERT_TRUE(buffers.Allocate(*device).ok());
    const std::unique_ptr<GpuRecording> recording = *device->Record(buffers.Stages(add));
    ASSERT_TRUE(recording->Run().ok());
    setenv(kFault, ("submit:" + std::to_string(Count("submissions") + 1)).c_str(), 1);
    EXPECT_EQ(recording->Run().status().code(), StatusCode::kUnavailable);
    setenv(kFault, "", 1);
    const int calls = Count("calls");
    ExpectRefusal(*device, *recording, buffers);
    EXPECT_EQ(Count("calls"), calls);  // the driver is not asked
  }
  ExpectNothingLeft();
  EXPECT_TRUE(OpenAndWork().ok());
}

TEST_F(CudaDeviceTest, AHangEndsAtTheDeadlineAndNothingWaitsForIt) {
  for (const bool in_copy : {false, true}) {
    Reset("");
    {
      std::unique_ptr<GpuDevice> device = *Open();
      const GpuKernelId add = *LoadAdd(*device);
      Buffers buffers;
      ASSERT_TRUE(buffers.Allocate(*device).ok());
      const std::unique_ptr<GpuRecording> recording = *device->Record(buffers.Stages(add));
      setenv(kFault, ("hang:" + std::to_string(Count("submissions") + 1)).c_str(), 1);
      const auto start = std::chrono::steady_clock::now();
      const GpuCopy copy = CopyOf(*buffers.a, *buffers.in);
      const Status status = in_copy ? device->Copy({&copy, 1}) : recording->Run().status();
      EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
      EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.message();
      EXPECT_NE(status.message().find("after 50 ms"), std::string::npos) << status.message();
      ExpectRefusal(*device, *recording, buffers);
    }
    EXPECT_EQ(Count("blocked"), 0);
    EXPECT_GT(Count("live"), 0);
  }
  Reset("");
  EXPECT_TRUE(OpenAndWork().ok());
}

TEST_F(CudaDeviceTest, TheDeviceIsFoundByItsUuid) {
  Reset("enumerate:twins");
  info_.gpu.uuid = "c0c1c2c3-c4c5-c6c7-c8c9-cacbcccdce01";
  auto moved = Open();
  ASSERT_TRUE(moved.ok()) << moved.status().message();
  EXPECT_EQ((*moved)->info().index, 1);
  info_.gpu.uuid = "00000000-0000-0000-0000-000000000000";
  auto gone = Open();
  EXPECT_EQ(gone.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(gone.status().message().find("got none of its UUID: it is gone"), std::string::npos);
}

TEST_F(CudaDeviceTest, WithoutAUuidTheIndexCounts) {
  Reset("enumerate:twins");
  info_.gpu.uuid.clear();
  info_.index = 1;
  auto device = Open();
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ((*device)->info().index, 1);
  info_.index = 2;
  EXPECT_NE(Open().status().message().find("cuda:2 (Fake CUDA GPU): expected the device that was probed, got none of "
                                           "its number: it is gone"),
            std::string::npos);
}

TEST_F(CudaDeviceTest, ADeviceThatIsTooOldIsRefused) {
  Reset("enumerate:old");
  const auto device = Open();
  EXPECT_EQ(device.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(device.status().message().find("it lacks compute capability 7.5"), std::string::npos);
}

TEST_F(CudaDeviceTest, AnOldDriverListsAndDoesNotOpen) {
  settings_.library = CANDOR_FAKE_DRIVERS "/cuda_old/libcuda.so.1";
  auto library = CudaLibrary::Open(settings_.library);
  ASSERT_TRUE(library.ok()) << library.status().message();
  auto driver = CudaDriver::Start(std::move(*library));
  ASSERT_TRUE(driver.ok());
  EXPECT_EQ(driver->ListDevices()->size(), 1u);
  const auto device = Open();
  EXPECT_EQ(device.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(device.status().message().find("expected the function cuModuleLoadDataEx of CUDA 11.4 or newer"),
            std::string::npos)
      << device.status().message();
}

TEST_F(CudaDeviceTest, WithoutADriverTheDeviceIsUnavailable) {
  settings_.library = "/nowhere/libcuda.so.1";
  const auto device = Open();
  EXPECT_EQ(device.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(device.status().message().find("expected CUDA's driver, got none"), std::string::npos)
      << device.status().message();
}

TEST_F(CudaDeviceTest, RefusedCodeIsNamedWithTheDriversWords) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  const auto module = (*device)->LoadModule("broken", std::as_bytes(std::span(kModule)));
  EXPECT_EQ(module.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(module.status().message().find("cuModuleLoadDataEx of broken"), std::string::npos);
  EXPECT_TRUE(module.status().message().ends_with("; its compiler says: ptxas fatal : a fake complaint"))
      << module.status().message();
  ASSERT_TRUE(LoadAdd(**device).ok());
  const auto unknown = (*device)->LoadKernel(0, "subtract", kThreads);
  EXPECT_EQ(unknown.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(unknown.status().message().find("cuModuleGetFunction of arithmetic/subtract"), std::string::npos);
  const auto wide = (*device)->LoadKernel(0, "add", 2048);
  EXPECT_EQ(wide.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(wide.status().message().find("2048 threads of the kernel arithmetic/add, got 1024"), std::string::npos)
      << wide.status().message();
  EXPECT_TRUE(Work(**device).ok());  // none of these harmed it
}

TEST_F(CudaDeviceTest, AShortageOfMemoryIsASentenceAndNoMore) {
  auto device = Open();
  ASSERT_TRUE(device.ok());
  const std::pair<GpuMemoryKind, std::string> kinds[] = {{GpuMemoryKind::kDevice, "device"},
                                                         {GpuMemoryKind::kHost, "host"}};
  for (const auto& [kind, name] : kinds) {
    setenv(kFault, ("memory:" + std::to_string(Count("memory") + 1)).c_str(), 1);
    const auto buffer = (*device)->Allocate(uint64_t{3} << 20, kind, "weights");
    EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted);
    EXPECT_NE(buffer.status().message().find("cuda:0: expected 3.0 MiB of " + name + " memory for weights, got"),
              std::string::npos)
        << buffer.status().message();
    EXPECT_EQ(buffer.status().message().find("(15.0 GiB free)") != std::string::npos, kind == GpuMemoryKind::kDevice)
        << buffer.status().message();
  }
  EXPECT_TRUE(Work(**device).ok());
}

}  // namespace
}  // namespace candor
