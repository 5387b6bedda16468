#include "platform/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace candor {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

DriverEnvironment ReadDriverEnvironment() {
  return {.vk_driver_files = Variable("VK_DRIVER_FILES"),
          .vk_icd_filenames = Variable("VK_ICD_FILENAMES"),
          .vk_add_driver_files = Variable("VK_ADD_DRIVER_FILES"),
          .vk_drivers_select = Variable("VK_LOADER_DRIVERS_SELECT"),
          .vk_drivers_disable = Variable("VK_LOADER_DRIVERS_DISABLE"),
          .xdg_config_home = Variable("XDG_CONFIG_HOME"),
          .xdg_config_dirs = Variable("XDG_CONFIG_DIRS"),
          .xdg_data_home = Variable("XDG_DATA_HOME"),
          .xdg_data_dirs = Variable("XDG_DATA_DIRS"),
          .library_path = Variable("LD_LIBRARY_PATH"),
          .nvidia_capabilities = Variable("NVIDIA_DRIVER_CAPABILITIES"),
          .nvidia_devices = Variable("NVIDIA_VISIBLE_DEVICES"),
          .cuda_visible_devices = Variable("CUDA_VISIBLE_DEVICES")};
}

}  // namespace

Environment ReadEnvironment() {
  Environment environment;
  environment.home = Variable("HOME");
  environment.xdg_cache_home = Variable("XDG_CACHE_HOME");
  if (environment.xdg_cache_home && environment.xdg_cache_home->front() != '/') environment.xdg_cache_home.reset();
  environment.no_color = Variable("NO_COLOR").has_value();
  environment.dumb_terminal = Variable("TERM") == "dumb";
  environment.drivers = ReadDriverEnvironment();
  return environment;
}

std::vector<std::string> ChildVariables(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const auto changed = [&](const auto& change) { return change.first == name; };
    if (std::none_of(changes.begin(), changes.end(), changed)) variables.emplace_back(text);
  }
  // The last change of a variable counts.
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    const auto later = [&](const auto& other) { return other.first == change->first; };
    if (change->second.empty() || std::any_of(change + 1, changes.end(), later)) continue;
    variables.push_back(change->first + "=" + change->second);
  }
  return variables;
}

}  // namespace candor
