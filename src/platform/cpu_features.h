// What this processor can run. Decided once at start from CPUID (and the OS's saved-state mask); never from the build
// machine.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace candor {

// The ISA levels that CPU kernels are compiled for, each in its own files.
// kAvx2: avx2, fma, f16c, bmi1, bmi2, aes, pclmulqdq. kAvx512: those and avx512 f, bw, vl, dq, cd, vnni.
enum class CpuIsa { kScalar, kAvx2, kAvx512 };

inline constexpr CpuIsa kAllCpuIsas[] = {CpuIsa::kScalar, CpuIsa::kAvx2, CpuIsa::kAvx512};

std::string_view CpuIsaName(CpuIsa isa);  // "scalar", "avx2", "avx512"
std::optional<CpuIsa> ParseCpuIsa(std::string_view name);
bool CpuSupports(CpuIsa isa);  // on this machine
CpuIsa BestCpuIsa();
std::string_view CpuModelName();  // "AMD EPYC 7B13", or "unknown"
int CpuCoreCount();               // cores this process may use (affinity, cgroup quota), >= 1; needs no /sys
std::vector<std::string_view>
CpuFeatureNames();  // for `candor devices`: "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", …

}  // namespace candor
