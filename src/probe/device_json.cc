#include "probe/device_json.h"

#include <optional>

namespace candor {
namespace {

// Every field once, for both directions.
template <typename Limits, typename Visit>
void VisitLimits(Limits& limits, Visit&& visit) {
  visit("max_storage_buffer", limits.max_storage_buffer);
  visit("max_allocation", limits.max_allocation);
  visit("max_buffer", limits.max_buffer);
  visit("max_workgroup_invocations", limits.max_workgroup_invocations);
  visit("max_workgroup_count", limits.max_workgroup_count);
  visit("shared_memory", limits.shared_memory);
  visit("max_push_constants", limits.max_push_constants);
}

template <typename Heap, typename Visit>
void VisitHeap(Heap& heap, Visit&& visit) {
  visit("size", heap.size);
  visit("available", heap.available);
  visit("device_local", heap.device_local);
}

template <typename Gpu, typename Visit>
void VisitGpu(Gpu& gpu, Visit&& visit) {
  visit("uuid", gpu.uuid);
  visit("driver_uuid", gpu.driver_uuid);
  visit("luid", gpu.luid);
  visit("pci", gpu.pci);
  visit("vendor_id", gpu.vendor_id);
  visit("device_id", gpu.device_id);
  visit("device_type", gpu.device_type);
  visit("driver_id", gpu.driver_id);
  visit("driver_name", gpu.driver_name);
  visit("driver_info", gpu.driver_info);
  visit("driver_version", gpu.driver_version);
  visit("api_version", gpu.api_version);
  visit("conformance_version", gpu.conformance_version);
  visit("compute_capability", gpu.compute_capability);
  visit("subgroup_size", gpu.subgroup_size);
  visit("subgroup_min", gpu.subgroup_min);
  visit("subgroup_max", gpu.subgroup_max);
  visit("timestamp_period", gpu.timestamp_period);
  visit("cooperative_matrix", gpu.cooperative_matrix);
  visit("missing", gpu.missing);
}

template <typename Info, typename Visit>
void VisitDevice(Info& info, Visit&& visit) {
  visit("name", info.name);
  visit("memory_total", info.memory_total);
  visit("memory_available", info.memory_available);
  visit("software", info.software);
  visit("software_reason", info.software_reason);
  visit("features", info.features);
}

template <typename Verdict, typename Visit>
void VisitVerdict(Verdict& verdict, Visit&& visit) {
  visit("phase", verdict.phase);
  visit("message", verdict.message);
  visit("cached", verdict.cached);
}

struct Writer {
  Json& json;
  template <typename T>
  void operator()(const char* key, const T& value) const {
    json[key] = value;
  }
};

// Keeps the first error; fields after it are left alone.
struct Reader {
  const Json& json;
  Status& status;

  const Json* Find(const char* key, bool (Json::*is_type)() const noexcept, const char* type) const {
    if (!status.ok() || !json.is_object()) return nullptr;
    const auto found = json.find(key);
    if (found == json.end()) return nullptr;
    if (((*found).*is_type)()) return &*found;
    status = DataLossError("device record: expected {} for '{}', got {}; probe again", type, key, found->type_name());
    return nullptr;
  }
  void operator()(const char* key, std::string& value) const {
    if (const Json* found = Find(key, &Json::is_string, "a text")) value = found->get<std::string>();
  }
  void operator()(const char* key, bool& value) const {
    if (const Json* found = Find(key, &Json::is_boolean, "true or false")) value = found->get<bool>();
  }
  void operator()(const char* key, double& value) const {
    if (const Json* found = Find(key, &Json::is_number, "a number")) value = found->get<double>();
  }
  void operator()(const char* key, uint64_t& value) const {
    if (const Json* found = Find(key, &Json::is_number_unsigned, "a whole number")) value = found->get<uint64_t>();
  }
  void operator()(const char* key, uint32_t& value) const {
    uint64_t wide = value;
    (*this)(key, wide);
    if (wide > UINT32_MAX) status = DataLossError("device record: '{}' is larger than 32 bits; probe again", key);
    value = static_cast<uint32_t>(wide);
  }
  void operator()(const char* key, std::vector<std::string>& value) const {
    const Json* found = Find(key, &Json::is_array, "a list");
    if (found == nullptr) return;
    value.clear();
    for (const Json& item : *found) {
      if (item.is_string()) value.push_back(item.get<std::string>());
    }
  }
};

std::optional<DeviceKind> KindOf(std::string_view name) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kVulkan, DeviceKind::kCuda}) {
    if (name == DeviceKindName(kind)) return kind;
  }
  return std::nullopt;
}

void ReadHeaps(const Json& json, GpuIdentity& gpu, Status& status) {
  const auto heaps = json.find("heaps");
  if (heaps == json.end() || !heaps->is_array()) return;
  for (const Json& row : *heaps) VisitHeap(gpu.heaps.emplace_back(), Reader{row, status});
}

}  // namespace

Json VerdictToJson(const ProbeVerdict& verdict) {
  Json json = {{"state", VerdictName(verdict.state)}};
  VisitVerdict(verdict, Writer{json});
  return json;
}

Result<ProbeVerdict> VerdictFromJson(const Json& json) {
  using State = ProbeVerdict::State;
  ProbeVerdict verdict;
  const std::optional<std::string> name = TextAt(json, "state");
  for (const State state : {State::kNotProbed, State::kPassed, State::kFailed, State::kCrashed, State::kHung}) {
    if (name != VerdictName(state)) continue;
    verdict.state = state;
    Status status;
    VisitVerdict(verdict, Reader{json, status});
    if (!status.ok()) return status;
    return verdict;
  }
  return DataLossError("device record: expected a verdict, got '{}'; probe again", name.value_or("none"));
}

Json DeviceToJson(const DeviceInfo& info) {
  Json json = {{"id", DeviceId(info)}, {"kind", DeviceKindName(info.kind)}, {"index", info.index}};
  VisitDevice(info, Writer{json});
  if (info.kind != DeviceKind::kCpu) {
    VisitGpu(info.gpu, Writer{json});
    VisitLimits(info.gpu.limits, Writer{json["limits"]});
    json["heaps"] = Json::array();
    for (const MemoryHeap& heap : info.gpu.heaps) VisitHeap(heap, Writer{json["heaps"].emplace_back()});
  }
  json["verdict"] = VerdictToJson(info.verdict);
  return json;
}

Result<DeviceInfo> DeviceFromJson(const Json& json) {
  DeviceInfo info;
  const std::optional<DeviceKind> kind = KindOf(TextAt(json, "kind").value_or(""));
  const std::optional<uint64_t> index = NumberAt(json, "index");
  if (!kind || !index || *index > 0xFFFF)
    return DataLossError("device record: expected a kind and an index; probe again");
  info.kind = *kind;
  info.index = static_cast<int>(*index);
  Status status;
  VisitDevice(info, Reader{json, status});
  VisitGpu(info.gpu, Reader{json, status});
  if (json.contains("limits")) VisitLimits(info.gpu.limits, Reader{json["limits"], status});
  ReadHeaps(json, info.gpu, status);
  if (!status.ok()) return status;
  if (json.contains("verdict")) {
    CANDOR_ASSIGN_OR_RETURN(info.verdict, VerdictFromJson(json["verdict"]));
  }
  return info;
}

std::string JsonLine(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json ParseJson(std::string_view text) { return Json::parse(text, nullptr, false); }

std::optional<std::string> TextAt(const Json& json, const char* key) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<uint64_t> NumberAt(const Json& json, const char* key) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

}  // namespace candor
