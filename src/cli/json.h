// JSON as the commands print it: fields in the order they were set, one line, bytes that are not UTF-8 as U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"

namespace candor::cli {

using Json = nlohmann::ordered_json;

inline Outcome PrintText(std::string_view text) {
  const Status status = WriteStdout(text);
  return status.ok() ? Outcome{} : Outcome{ExitCode::kFailed, status.message()};
}

inline Outcome PrintJson(const Json& json) {
  return PrintText(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace candor::cli
