#include "cli/json.h"

#include "base/printable.h"

namespace candor::cli {

std::string Dump(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool c1 = text[i] == '\xC2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (!c1 && text[i] != '\x7F') {
      out += text[i];
      continue;
    }
    if (c1) ++i;  // the second byte is the code point
    out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[i]));
  }
  return out;
}

Outcome PrintJson(const Json& json) { return StreamFailure(WriteStdout(Dump(json) + "\n")); }

Outcome PrintText(std::string_view text) { return StreamFailure(WriteStdout(EscapeControls(text, "\n"))); }

}  // namespace candor::cli
