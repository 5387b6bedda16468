// The only place where Candor reads environment variables. None of them changes a number that a model computes.
#pragma once

#include <optional>
#include <string>

namespace candor {

// A variable that is unset or empty is nullopt.
struct Environment {
  std::optional<std::string> home;  // HOME
  std::optional<std::string>
      xdg_cache_home;          // XDG_CACHE_HOME; nullopt unless absolute, as the XDG base directory rules say
  bool no_color = false;       // NO_COLOR is set (no-color.org)
  bool dumb_terminal = false;  // TERM=dumb: no cursor movement
};

// Read once at start by the program's main and passed on. Thread safe as long as nobody calls setenv.
Environment ReadEnvironment();

}  // namespace candor
