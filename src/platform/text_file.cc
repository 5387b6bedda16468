#include "platform/text_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace candor {

std::optional<std::string> ReadSmallTextFile(const std::string& path) {
  constexpr size_t kLimit = size_t{64} << 10;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kLimit, '\0');
  file.read(text.data(), static_cast<std::streamsize>(kLimit));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

std::optional<uint64_t> FindNumber(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.substr(0, key.size()) != key) continue;
    std::string_view rest = line.substr(key.size());
    const size_t begin = rest.find_first_not_of(" \t");
    if (begin == 0 || begin == std::string_view::npos) continue;
    rest.remove_prefix(begin);
    return ParseNumber(rest.substr(0, rest.find(' ')));
  }
  return std::nullopt;
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace candor
