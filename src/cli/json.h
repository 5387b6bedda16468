// JSON as the commands print it: fields in the order they were set, one line, bytes that are not UTF-8 as U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"

namespace candor::cli {

using Json = nlohmann::ordered_json;

// Of control characters JSON escapes only the first 32; the others (DEL, C1) drive terminals as well, so they are
// written as \u00XX too.
std::string Dump(const Json& json);

Outcome PrintJson(const Json& json);

// Text for people; its control characters but new lines are escaped.
Outcome PrintText(std::string_view text);

}  // namespace candor::cli
