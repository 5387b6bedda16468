// Strict parsing of numbers and lists of numbers from a command line: the whole word, in decimal, within a range.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace candor::cli {

// InvalidArgument: "expected a whole number from 1 to 1024, got 'x'".
Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max);
// A finite number; "inf" and "nan" are refused.
Result<double> ParseNumber(std::string_view text, double min, double max);
// "1,2,3"; blanks around the numbers are allowed, an empty list is not.
Result<std::vector<int64_t>> ParseIntegerList(std::string_view text, int64_t min, int64_t max);

}  // namespace candor::cli
