// Reads small text files such as those in /proc and /sys, which report no size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace candor {

// The whole content (at most 64 KiB of it); nullopt when the file cannot be read.
std::optional<std::string> ReadSmallTextFile(const std::string& path);

// The number after `key` and blanks, at the start of a line ("MemTotal:  123 kB", "inactive_file 4096"); nullopt when
// there is none.
std::optional<uint64_t> FindNumber(std::string_view text, std::string_view key);

// A whole text that is one unsigned number (a newline may follow); nullopt for anything else ("max").
std::optional<uint64_t> ParseNumber(std::string_view text);

}  // namespace candor
