#include "cli/number.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/printable.h"

namespace candor::cli {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

template <typename T>
bool ParseWhole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string Range(int64_t min, int64_t max) {
  if (max == std::numeric_limits<int64_t>::max()) return fmt::format("of at least {}", min);
  return fmt::format("from {} to {}", min, max);
}

std::string Range(double min, double max) {
  const double huge = std::numeric_limits<float>::max();
  if (min <= -huge && max >= huge) return "that is finite";
  if (max >= huge) return fmt::format("of at least {}", min);
  return fmt::format("from {} to {}", min, max);
}

}  // namespace

Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  if (ParseWhole(text, value) && value >= min && value <= max) return value;
  return InvalidArgumentError("expected a whole number {}, got '{}'", Range(min, max), Printable(text));
}

Result<double> ParseNumber(std::string_view text, double min, double max) {
  double value = 0;
  if (ParseWhole(text, value) && std::isfinite(value) && value >= min && value <= max) return value;
  return InvalidArgumentError("expected a number {}, got '{}'", Range(min, max), Printable(text));
}

Result<std::vector<int64_t>> ParseIntegerList(std::string_view text, int64_t min, int64_t max) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const auto value = ParseInteger(Trim(text.substr(begin, comma - begin)), min, max);
    if (!value.ok()) {
      return InvalidArgumentError("expected whole numbers {} with commas between them, got '{}'", Range(min, max),
                                  Printable(text.size() > 60 ? text.substr(begin, comma - begin) : text));
    }
    values.push_back(*value);
    begin = comma + 1;
  }
  return values;
}

}  // namespace candor::cli
