// Text from files and users, made fit for an error message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace candor {

// `text` with every byte that is not printable ASCII written as \xNN, cut after `limit` bytes of input with "…" behind
// it. Names read from a hostile file can then neither flood a message nor drive a terminal.
std::string Printable(std::string_view text, size_t limit = 80);

// `text` with what could end a line or drive a terminal written as \xNN: control characters (C0, DEL, C1), Unicode's
// line separators and bytes that are not UTF-8. The rest, and the control characters of `kept`, stay as they are. For
// whole messages, whose parts may come from files and users.
std::string EscapeControls(std::string_view text, std::string_view kept = {});

// Is `text` well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF)?
bool IsValidUtf8(std::string_view text);

// "1.5 GiB", "97.0 MiB", "12 bytes".
std::string FormatBytes(uint64_t bytes);

}  // namespace candor
