// How a fake driver goes wrong on demand. The variable CANDOR_FAKE_DRIVER is a list of "place:how" with commas; places
// are the names of phases, plus "open" (while the library is loaded) and "exit" (while the process ends).
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace candor::fake {

// What is to happen at `place`; empty: nothing.
inline std::string FaultAt(std::string_view place) {
  const char* variable = getenv("CANDOR_FAKE_DRIVER");
  std::string_view list = variable == nullptr ? "" : variable;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    const size_t colon = item.find(':');
    if (colon != std::string_view::npos && item.substr(0, colon) == place) return std::string(item.substr(colon + 1));
    list.remove_prefix(item.size() == list.size() ? item.size() : item.size() + 1);
  }
  return "";
}

// A real crash of the process, whatever handlers a sanitizer has put in.
[[noreturn]] inline void Die(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  _exit(111);
}

// Crashes, hangs, exits or goes on, as CANDOR_FAKE_DRIVER says for this place. True when it is to fail with an error
// code.
inline bool Misbehave(std::string_view place) {
  const std::string fault = FaultAt(place);
  if (fault == "segv") Die(SIGSEGV);
  if (fault == "abort") Die(SIGABRT);
  if (fault == "exit") _exit(0);
  while (fault == "hang") pause();
  if (fault == "noise") {
    // A driver that prints: to stdout, which the probe uses, and to stderr.
    const std::string_view text = "{\"phase\": \"loader\", \"ok\": true}\nnoise\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0 || write(STDERR_FILENO, text.data(), text.size()) < 0)
      _exit(112);
  }
  return fault == "error";
}

}  // namespace candor::fake
