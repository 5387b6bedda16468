#include "platform/environment.h"

#include <cstdlib>

namespace candor {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

}  // namespace

Environment ReadEnvironment() {
  Environment environment;
  environment.home = Variable("HOME");
  environment.xdg_cache_home = Variable("XDG_CACHE_HOME");
  if (environment.xdg_cache_home && environment.xdg_cache_home->front() != '/') environment.xdg_cache_home.reset();
  environment.no_color = Variable("NO_COLOR").has_value();
  environment.dumb_terminal = Variable("TERM") == "dumb";
  return environment;
}

}  // namespace candor
