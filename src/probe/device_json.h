// DeviceInfo as JSON and back: what a probe process writes, the cache keeps and `candor devices --json` prints. Reading
// trusts nothing: a value of a wrong type is an error, a missing one keeps its default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "device/device.h"

namespace candor {

using Json = nlohmann::ordered_json;

Json DeviceToJson(const DeviceInfo& info);
Result<DeviceInfo> DeviceFromJson(const Json& json);  // DataLoss names the field

Json VerdictToJson(const ProbeVerdict& verdict);
Result<ProbeVerdict> VerdictFromJson(const Json& json);

// One line without a newline; bytes that are no UTF-8 become U+FFFD.
std::string JsonLine(const Json& json);
// Discarded (is_discarded) when the text is no JSON; never throws.
Json ParseJson(std::string_view text);

// A text, number or list of a field; nullopt when it is absent or of another type.
std::optional<std::string> TextAt(const Json& json, const char* key);
std::optional<uint64_t> NumberAt(const Json& json, const char* key);

}  // namespace candor
