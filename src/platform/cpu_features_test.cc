#include "platform/cpu_features.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

namespace candor {
namespace {

bool Has(std::string_view name) {
  const auto names = CpuFeatureNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(CpuFeatures, NamesAndBack) {
  for (const CpuIsa isa : kAllCpuIsas) EXPECT_EQ(ParseCpuIsa(CpuIsaName(isa)), isa);
  EXPECT_EQ(ParseCpuIsa("avx1024"), std::nullopt);
}

TEST(CpuFeatures, BestIsSupportedAndNothingAboveIt) {
  EXPECT_TRUE(CpuSupports(CpuIsa::kScalar));
  EXPECT_TRUE(CpuSupports(BestCpuIsa()));
  for (const CpuIsa isa : kAllCpuIsas) {
    if (isa > BestCpuIsa()) {
      EXPECT_FALSE(CpuSupports(isa)) << CpuIsaName(isa);
    }
  }
}

#if defined(__x86_64__)
// The compiler's run-time library reads CPUID on its own.
TEST(CpuFeatures, AgreesWithTheCompilersDetection) {
  EXPECT_EQ(Has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(Has("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(Has("bmi2"), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(Has("aes"), __builtin_cpu_supports("aes") != 0);
  EXPECT_EQ(Has("pclmulqdq"), __builtin_cpu_supports("pclmul") != 0);
  EXPECT_EQ(Has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(Has("avx512_vnni"), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(Has("avx512_bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_NE(CpuModelName(), "unknown");
}
#endif

TEST(CpuFeatures, ModelNameIsTrimmedText) {
  const std::string_view name = CpuModelName();
  ASSERT_FALSE(name.empty());
  EXPECT_NE(name.front(), ' ');
  EXPECT_NE(name.back(), ' ');
  EXPECT_EQ(name.find('\0'), std::string_view::npos);
}

TEST(CpuFeatures, CoreCountFollowsTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(CpuCoreCount(), 1);
  EXPECT_LE(CpuCoreCount(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(CpuCoreCount(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace candor
