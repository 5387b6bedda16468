#include "platform/cgroup.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "platform/text_file.h"

namespace candor {
namespace {

// The folders of one hierarchy from the group of this process up to the root. Inside a container the group's own folder
// is often not visible; the root of what is mounted then holds its limits.
std::vector<std::string> GroupFolders(const std::string& mount, std::string_view group) {
  std::vector<std::string> folders;
  while (group.size() > 1 && group.front() == '/') {
    folders.push_back(mount + std::string(group));
    group = group.substr(0, group.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

// How one version of control groups spells its files.
struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // key in memory.stat
};
constexpr MemoryFiles kMemoryV1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr MemoryFiles kMemoryV2 = {"/memory.max", "/memory.current", "inactive_file"};

// Version 1 says "no limit" with a number near 2^63.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

std::optional<uint64_t> ReadNumber(const std::string& path) {
  const auto text = ReadSmallTextFile(path);
  return text ? ParseNumber(*text) : std::nullopt;
}

void ApplyMemory(const std::vector<std::string>& folders, const MemoryFiles& files, CgroupLimits& limits) {
  for (const std::string& folder : folders) {
    const auto limit = ReadNumber(folder + files.limit);
    if (!limit || *limit >= kNoLimit) continue;
    limits.memory = std::min(limits.memory.value_or(*limit), *limit);
    const uint64_t usage = ReadNumber(folder + files.usage).value_or(0);
    const auto stat = ReadSmallTextFile(folder + "/memory.stat");
    const uint64_t reclaimable = stat ? FindNumber(*stat, files.reclaimable).value_or(0) : 0;
    const uint64_t held = usage - std::min(usage, reclaimable);
    const uint64_t free = *limit - std::min(*limit, held);
    limits.memory_free = std::min(limits.memory_free.value_or(free), free);
  }
}

void ApplyCpus(double quota, double period, CgroupLimits& limits) {
  if (quota > 0 && period > 0) limits.cpus = std::min(limits.cpus.value_or(quota / period), quota / period);
}

void ApplyCpusV1(const std::vector<std::string>& folders, CgroupLimits& limits) {
  for (const std::string& folder : folders) {
    const auto quota = ReadNumber(folder + "/cpu.cfs_quota_us");  // -1, not a number here: no limit
    const auto period = ReadNumber(folder + "/cpu.cfs_period_us");
    if (quota && period) ApplyCpus(static_cast<double>(*quota), static_cast<double>(*period), limits);
  }
}

void ApplyCpusV2(const std::vector<std::string>& folders, CgroupLimits& limits) {
  for (const std::string& folder : folders) {
    const auto text = ReadSmallTextFile(folder + "/cpu.max");  // "max 100000" or "150000 100000"
    if (!text) continue;
    const size_t blank = text->find(' ');
    if (blank == std::string::npos) continue;
    const auto quota = ParseNumber(std::string_view(*text).substr(0, blank));
    const auto period = ParseNumber(std::string_view(*text).substr(blank + 1));
    if (quota && period) ApplyCpus(static_cast<double>(*quota), static_cast<double>(*period), limits);
  }
}

bool Lists(std::string_view controllers, std::string_view name) {
  while (!controllers.empty()) {
    const std::string_view one = controllers.substr(0, controllers.find(','));
    if (one == name) return true;
    controllers.remove_prefix(std::min(controllers.size(), one.size() + 1));
  }
  return false;
}

// One line of /proc/self/cgroup: "<id>:<controllers>:<group>"; no controllers means version 2.
void ApplyLine(std::string_view line, const std::string& mount, CgroupLimits& limits) {
  const size_t first = line.find(':');
  const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string_view group = line.substr(second + 1);
  if (controllers.empty()) {
    const auto folders = GroupFolders(mount, group);
    ApplyMemory(folders, kMemoryV2, limits);
    ApplyCpusV2(folders, limits);
  }
  if (Lists(controllers, "memory")) ApplyMemory(GroupFolders(mount + "/memory", group), kMemoryV1, limits);
  if (Lists(controllers, "cpu")) ApplyCpusV1(GroupFolders(mount + "/cpu", group), limits);
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const auto text = ReadSmallTextFile(root + "/proc/self/cgroup");
  if (!text) return limits;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    ApplyLine(line, root + "/sys/fs/cgroup", limits);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return limits;
}

}  // namespace candor
