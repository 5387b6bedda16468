#include "platform/cpu_features.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "platform/cgroup.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace candor {
namespace {

// One bit of CPUID that `candor devices` names. `saved_state` are the XCR0 bits that the operating system must save for
// it.
enum Register { kEax, kEbx, kEcx, kEdx };
struct FeatureBit {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  int bit;
  uint64_t saved_state;
};

constexpr uint64_t kYmmState = 0x6;       // XMM, YMM
constexpr uint64_t kZmmState = 0xE6;      // and opmask, both ZMM halves
constexpr uint64_t kTileState = 0x60000;  // AMX tile configuration and data

constexpr FeatureBit kFeatureBits[] = {
    {"sse4_2", 1, 0, kEcx, 20, 0},
    {"popcnt", 1, 0, kEcx, 23, 0},
    {"aes", 1, 0, kEcx, 25, 0},
    {"pclmulqdq", 1, 0, kEcx, 1, 0},
    {"bmi1", 7, 0, kEbx, 3, 0},
    {"bmi2", 7, 0, kEbx, 8, 0},
    {"avx", 1, 0, kEcx, 28, kYmmState},
    {"fma", 1, 0, kEcx, 12, kYmmState},
    {"f16c", 1, 0, kEcx, 29, kYmmState},
    {"avx2", 7, 0, kEbx, 5, kYmmState},
    {"avx_vnni", 7, 1, kEax, 4, kYmmState},
    {"avx512f", 7, 0, kEbx, 16, kZmmState},
    {"avx512dq", 7, 0, kEbx, 17, kZmmState},
    {"avx512cd", 7, 0, kEbx, 28, kZmmState},
    {"avx512bw", 7, 0, kEbx, 30, kZmmState},
    {"avx512vl", 7, 0, kEbx, 31, kZmmState},
    {"avx512_vbmi", 7, 0, kEcx, 1, kZmmState},
    {"avx512_vnni", 7, 0, kEcx, 11, kZmmState},
    {"avx512_bf16", 7, 1, kEax, 5, kZmmState},
    {"avx512_fp16", 7, 0, kEdx, 23, kZmmState},
    {"amx_tile", 7, 0, kEdx, 24, kTileState},
    {"amx_int8", 7, 0, kEdx, 25, kTileState},
    {"amx_bf16", 7, 0, kEdx, 22, kTileState},
};

constexpr std::string_view kAvx2Needs[] = {"avx2", "fma", "f16c", "bmi1", "bmi2", "aes", "pclmulqdq"};
constexpr std::string_view kAvx512Needs[] = {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512_vnni"};

struct Cpu {
  std::vector<std::string_view> features;
  std::string model = "unknown";
};

#if defined(__x86_64__)

using Registers = std::array<uint32_t, 4>;

Registers Cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers out = {};
  if (__get_cpuid_count(leaf, subleaf, &out[0], &out[1], &out[2], &out[3]) == 0) return {};
  return out;
}

// The state that the operating system saves at a task switch (XCR0), 0 without XSAVE.
uint64_t SavedState() {
  constexpr uint32_t kOsXsave = 1u << 27;
  if ((Cpuid(1, 0)[kEcx] & kOsXsave) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

std::string BrandString() {
  constexpr uint32_t kFirstBrandLeaf = 0x80000002;
  constexpr uint32_t kLastBrandLeaf = 0x80000004;
  if (__get_cpuid_max(0x80000000, nullptr) < kLastBrandLeaf) return "unknown";
  char text[3 * sizeof(Registers) + 1] = {};
  for (uint32_t leaf = kFirstBrandLeaf; leaf <= kLastBrandLeaf; ++leaf) {
    const Registers part = Cpuid(leaf, 0);
    std::memcpy(text + (leaf - kFirstBrandLeaf) * sizeof(part), part.data(), sizeof(part));
  }
  std::string brand(text);
  const size_t begin = brand.find_first_not_of(' ');
  if (begin == std::string::npos) return "unknown";
  return brand.substr(begin, brand.find_last_not_of(' ') - begin + 1);
}

Cpu DetectCpu() {
  Cpu cpu;
  cpu.model = BrandString();
  const uint64_t saved = SavedState();
  const uint32_t max_subleaf_of_7 = Cpuid(7, 0)[kEax];
  for (const FeatureBit& feature : kFeatureBits) {
    if (feature.leaf == 7 && feature.subleaf > max_subleaf_of_7) continue;
    const bool present = (Cpuid(feature.leaf, feature.subleaf)[feature.reg] >> feature.bit) & 1;
    if (present && (saved & feature.saved_state) == feature.saved_state) cpu.features.push_back(feature.name);
  }
  return cpu;
}

#else

Cpu DetectCpu() { return {}; }

#endif

const Cpu& ThisCpu() {
  static const Cpu cpu = DetectCpu();
  return cpu;
}

bool HasAll(std::span<const std::string_view> names) {
  const auto& have = ThisCpu().features;
  return std::all_of(names.begin(), names.end(),
                     [&](std::string_view name) { return std::find(have.begin(), have.end(), name) != have.end(); });
}

// Processors in this process's affinity mask; the mask may be longer than cpu_set_t on large machines. 0 when unknown.
int AffinityCount() {
  for (size_t cpus = CPU_SETSIZE; cpus <= (size_t{1} << 20); cpus *= 2) {
    std::vector<unsigned long> mask(CPU_ALLOC_SIZE(cpus) / sizeof(unsigned long));
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    const size_t bytes = mask.size() * sizeof(unsigned long);
    if (sched_getaffinity(0, bytes, set) == 0) return CPU_COUNT_S(bytes, set);
  }
  return 0;
}

}  // namespace

std::string_view CpuIsaName(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kScalar:
      return "scalar";
    case CpuIsa::kAvx2:
      return "avx2";
    case CpuIsa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

std::optional<CpuIsa> ParseCpuIsa(std::string_view name) {
  for (const CpuIsa isa : kAllCpuIsas) {
    if (CpuIsaName(isa) == name) return isa;
  }
  return std::nullopt;
}

bool CpuSupports(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kScalar:
      return true;
    case CpuIsa::kAvx2:
      return HasAll(kAvx2Needs);
    case CpuIsa::kAvx512:
      return HasAll(kAvx2Needs) && HasAll(kAvx512Needs);
  }
  return false;
}

CpuIsa BestCpuIsa() {
  if (CpuSupports(CpuIsa::kAvx512)) return CpuIsa::kAvx512;
  return CpuSupports(CpuIsa::kAvx2) ? CpuIsa::kAvx2 : CpuIsa::kScalar;
}

std::string_view CpuModelName() { return ThisCpu().model; }

int CpuCoreCount() {
  int cores = std::max(1, AffinityCount());
  // Rounded down: with a barrier in every step, a thread that the quota stops makes all the others wait.
  const auto quota = ReadCgroupLimits("").cpus;
  if (quota) cores = std::min(cores, std::max(1, static_cast<int>(std::min(*quota, 1e6))));
  return cores;
}

std::vector<std::string_view> CpuFeatureNames() { return ThisCpu().features; }

}  // namespace candor
