#include "probe/probe_cache.h"

#include "platform/atomic_file.h"
#include "platform/paths.h"
#include "platform/text_file.h"
#include "probe/device_json.h"

namespace candor {
namespace {

constexpr uint64_t kFormat = 1;

uint64_t Now() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

// FNV-1a of 64 bits against damage, not against anyone.
std::string Checksum(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

Json ToJson(const ProbeReport& report) {
  Json json = {{"listing", VerdictToJson(report.listing.verdict)},
               {"code", static_cast<int>(report.listing.code)},
               {"library", report.listing.library},
               {"devices", Json::array()}};
  for (const DeviceInfo& device : report.devices) json["devices"].push_back(DeviceToJson(device));
  return json;
}

std::optional<ProbeReport> FromJson(const Json& json) {
  if (!json.is_object() || !json.contains("listing") || !json.contains("devices") || !json["devices"].is_array())
    return std::nullopt;
  ProbeReport report;
  auto listing = VerdictFromJson(json["listing"]);
  const auto code = NumberAt(json, "code");
  if (!listing.ok() || !code || *code > static_cast<uint64_t>(StatusCode::kInternal)) return std::nullopt;
  report.listing.verdict = std::move(*listing);
  report.listing.code = static_cast<StatusCode>(*code);
  report.listing.library = TextAt(json, "library").value_or("");
  report.listing.verdict.cached = true;
  for (const Json& row : json["devices"]) {
    auto device = DeviceFromJson(row);
    if (!device.ok()) return std::nullopt;
    device->verdict.cached = true;
    report.devices.push_back(std::move(*device));
  }
  report.listing.devices = report.devices;
  return report;
}

}  // namespace

std::string ProbeCache::PathOf(DeviceKind kind) const {
  return fmt::format("{}/probe-{}-{}.json", folder_, DeviceKindName(kind), Checksum(key_));
}

std::optional<ProbeReport> ProbeCache::Load(DeviceKind kind) const {
  if (folder_.empty()) return std::nullopt;
  const auto text = ReadSmallTextFile(PathOf(kind));
  if (!text) return std::nullopt;
  // Two lines: what it is, and the report that the checksum is of.
  const size_t newline = text->find('\n');
  if (newline == std::string::npos) return std::nullopt;
  const Json head = ParseJson(std::string_view(*text).substr(0, newline));
  const std::string_view body = std::string_view(*text).substr(newline + 1);
  const auto saved = NumberAt(head, "saved");
  if (NumberAt(head, "format") != kFormat || TextAt(head, "key") != key_ ||
      TextAt(head, "checksum") != Checksum(body) || !saved) {
    return std::nullopt;
  }
  const uint64_t now = Now();
  if (*saved > now || now - *saved > static_cast<uint64_t>(std::chrono::seconds(kKept).count())) return std::nullopt;
  return FromJson(ParseJson(body));
}

Status ProbeCache::Save(DeviceKind kind, const ProbeReport& report) const {
  if (folder_.empty())
    return FailedPreconditionError("verdicts are not kept: expected HOME or XDG_CACHE_HOME to be set, got neither");
  CANDOR_RETURN_IF_ERROR(MakeDirectories(folder_).WithContext("verdicts are not kept"));
  const std::string body = JsonLine(ToJson(report));
  const Json head = {{"format", kFormat}, {"key", key_}, {"saved", Now()}, {"checksum", Checksum(body)}};
  return WriteFileAtomically(PathOf(kind), JsonLine(head) + "\n" + body).WithContext("verdicts are not kept");
}

}  // namespace candor
