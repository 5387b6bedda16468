#include "runtime/placement_report.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace candor {
namespace {

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

std::string PlacementReport::ToJson() const {
  nlohmann::ordered_json json = {
      {"device", device}, {"device_name", device_name}, {"isa", isa}, {"threads", threads}, {"kv_type", kv_type}};
  json["ops"] = nlohmann::ordered_json::array();
  for (const OpPlacement& row : ops) {
    json["ops"].push_back({{"op", row.op},
                           {"variant", row.variant},
                           {"device", row.device},
                           {"count", row.count},
                           {"weight_bytes", row.weight_bytes}});
  }
  json["weight_bytes"] = weight_bytes;
  json["kv_bytes"] = kv_bytes;
  json["scratch_bytes"] = scratch_bytes;
  json["steps"] = steps;
  json["rows"] = rows;
  if (gpu.has_value()) {
    json["gpu"] = {{"uuid", gpu->uuid},
                   {"driver", gpu->driver},
                   {"precision", gpu->precision},
                   {"submissions", gpu->submissions},
                   {"dispatches", gpu->dispatches},
                   {"dispatches_per_token", gpu->dispatches_per_token},
                   {"gpu_milliseconds", gpu->gpu_milliseconds},
                   {"timestamps", gpu->timestamps},
                   {"verified", gpu->verified}};
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string PlacementReport::ToText() const {
  std::string text = fmt::format("placement: {} ({}), {}, {} thread{}, kv cache {}\n", device, device_name,
                                 gpu.has_value() ? gpu->driver : isa, threads, threads == 1 ? "" : "s", kv_type);
  auto out = std::back_inserter(text);
  for (const OpPlacement& row : ops) {
    fmt::format_to(out, "  {:<16} x {:<4} {:<20} {:<8}", row.op, row.count, row.variant, row.device);
    if (row.weight_bytes > 0) fmt::format_to(out, " {:9.1f} MiB", MiB(row.weight_bytes));
    text += '\n';
  }
  fmt::format_to(out, "memory: weights {:.1f} MiB, kv cache {:.1f} MiB, scratch {:.1f} MiB; {} steps, {} rows\n",
                 MiB(weight_bytes), MiB(kv_bytes), MiB(scratch_bytes), steps, rows);
  if (gpu.has_value()) {
    fmt::format_to(out, "gpu: {}; {} submissions, {} launches ({:.0f} a token), {:.1f} ms by its own clock; {}\n",
                   gpu->precision, gpu->submissions, gpu->dispatches, gpu->dispatches_per_token, gpu->gpu_milliseconds,
                   gpu->verified ? "verified by its counters" : "not verified");
  }
  return text;
}

}  // namespace candor
