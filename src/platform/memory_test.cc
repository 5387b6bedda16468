#include "platform/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/cgroup.h"
#include "platform/growing_buffer.h"
#include "platform/test_folder.h"

namespace candor {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

void WriteMeminfo(const TestFolder& root) {
  root.Write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:          100000 kB\nMemAvailable:    4194304 kB\n");
}

TEST(MemoryInfo, ThisMachine) {
  const MemoryInfo info = ReadMemoryInfo();
  EXPECT_GT(info.total, 64 * kMiB);
  EXPECT_GT(info.available, 0u);
  EXPECT_LE(info.available, info.total);
}

TEST(MemoryInfo, WithoutProcAndSys) {
  const TestFolder root;
  const MemoryInfo info = ReadMemoryInfo(root.path());
  EXPECT_GT(info.total, 64 * kMiB);
  EXPECT_GT(info.available, 0u);
}

TEST(MemoryInfo, NoCgroup) {
  const TestFolder root;
  WriteMeminfo(root);
  EXPECT_EQ(ReadMemoryInfo(root.path()).total, 8192 * kMiB);
  EXPECT_EQ(ReadMemoryInfo(root.path()).available, 4096 * kMiB);
}

TEST(MemoryInfo, CgroupV2TakesTheSmallestOfTheParents) {
  const TestFolder root;
  WriteMeminfo(root);
  root.Write("proc/self/cgroup", "0::/a/b\n");
  root.Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  root.Write("sys/fs/cgroup/a/memory.max", "1073741824\n");
  root.Write("sys/fs/cgroup/a/memory.current", "536870912\n");
  root.Write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 268435456\n");
  const MemoryInfo info = ReadMemoryInfo(root.path());
  EXPECT_EQ(info.total, 1024 * kMiB);
  EXPECT_EQ(info.available, 768 * kMiB);  // page cache counts as free
}

TEST(MemoryInfo, CgroupV1InAContainerThatSeesOnlyItsRoot) {
  const TestFolder root;
  WriteMeminfo(root);
  root.Write("proc/self/cgroup", "5:cpuacct,cpu:/x\n4:memory:/docker/123\n0::/\n");
  root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "104857600\n");
  root.Write("sys/fs/cgroup/memory/memory.usage_in_bytes", "209715200\n");
  const MemoryInfo info = ReadMemoryInfo(root.path());
  EXPECT_EQ(info.total, 100 * kMiB);
  EXPECT_EQ(info.available, 0u);
}

TEST(MemoryInfo, CgroupV1WithoutALimit) {
  const TestFolder root;
  WriteMeminfo(root);
  root.Write("proc/self/cgroup", "4:memory:/\n");
  root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ReadMemoryInfo(root.path()).total, 8192 * kMiB);
}

TEST(MemoryInfo, NonsenseInTheFilesIsIgnored) {
  const TestFolder root;
  WriteMeminfo(root);
  root.Write("proc/self/cgroup", "nonsense\n:::\n0::\n0::relative\n");
  root.Write("sys/fs/cgroup/memory.max", "12x\n");
  root.Write("sys/fs/cgroup/cpu.max", "garbage");
  EXPECT_EQ(ReadMemoryInfo(root.path()).total, 8192 * kMiB);
  EXPECT_EQ(ReadCgroupLimits(root.path()).cpus, std::nullopt);
}

TEST(Cgroup, CpuQuota) {
  const TestFolder root;
  root.Write("proc/self/cgroup", "0::/job\n");
  root.Write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  root.Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(ReadCgroupLimits(root.path()).cpus, 1.5);
  root.Write("proc/self/cgroup", "3:cpu,cpuacct:/job\n");
  root.Write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000\n");
  root.Write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ReadCgroupLimits(root.path()).cpus, 4.0);
  root.Write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(ReadCgroupLimits(root.path()).cpus, std::nullopt);
}

// The limit would stay for the whole test program: a child takes it.
TEST(MemoryInfo, AddressSpaceLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "NOT RUN: a sanitizer needs more address space than the limit leaves";
#endif
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {512 * kMiB, 512 * kMiB};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    const MemoryInfo info = ReadMemoryInfo();
    const bool info_is_right = info.total <= 512 * kMiB && info.available < 512 * kMiB;
    const auto refused = AlignedBuffer::Allocate(511 * kMiB, "weights");
    _exit(info_is_right && refused.status().code() == StatusCode::kResourceExhausted ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(AlignedBuffer, AlignedZeroedAndOwned) {
  auto small = AlignedBuffer::Allocate(100, "scratch");
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small->data()) % 64, 0u);
  EXPECT_EQ(small->size(), 100u);
  auto large = AlignedBuffer::Allocate(5 * kMiB + 3, "weights");
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large->data()) % (2 * kMiB), 0u);
  EXPECT_EQ(large->bytes().back(), std::byte{0});
  large->bytes().back() = std::byte{1};
  AlignedBuffer moved = *std::move(large);
  EXPECT_EQ(moved.bytes().back(), std::byte{1});
  moved = *std::move(small);
  EXPECT_EQ(moved.size(), 100u);
  EXPECT_TRUE(AlignedBuffer::Allocate(0, "nothing")->empty());
}

TEST(AlignedBuffer, TooMuchIsAnErrorWithBothFigures) {
  for (const uint64_t bytes : {uint64_t{1} << 50, ~uint64_t{0}, ~uint64_t{0} - kMiB}) {
    const auto refused = AlignedBuffer::Allocate(bytes, "weights");
    ASSERT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(refused.status().message().find("weights: expected "), 0u) << refused.status().message();
    EXPECT_NE(refused.status().message().find("available of"), std::string::npos);
  }
}

TEST(GrowingBuffer, GrowsInPlace) {
  auto buffer = GrowingBuffer::Create(10 * kMiB);
  ASSERT_TRUE(buffer.ok());
  ASSERT_TRUE(buffer->Grow(1).ok());
  std::byte* const data = buffer->bytes().data();
  data[0] = std::byte{7};
  ASSERT_TRUE(buffer->Grow(10 * kMiB).ok());
  EXPECT_EQ(buffer->bytes().data(), data);
  EXPECT_GE(buffer->bytes().size(), 10 * kMiB);
  buffer->bytes()[10 * kMiB - 1] = std::byte{8};
  EXPECT_EQ(data[0], std::byte{7});
  EXPECT_EQ(GrowingBuffer::Create(uint64_t{1} << 60).status().code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace candor
