// The only place where Candor reads environment variables. None of them changes a number that a model computes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace candor {

// What decides which GPU drivers are found; nullopt where unset or empty. Lists are as written, with colons.
struct DriverEnvironment {
  std::optional<std::string> vk_driver_files;       // VK_DRIVER_FILES: only these manifests
  std::optional<std::string> vk_icd_filenames;      // VK_ICD_FILENAMES, its older name; used when the first is unset
  std::optional<std::string> vk_add_driver_files;   // VK_ADD_DRIVER_FILES: these as well
  std::optional<std::string> vk_drivers_select;     // VK_LOADER_DRIVERS_SELECT: patterns of manifest names
  std::optional<std::string> vk_drivers_disable;    // VK_LOADER_DRIVERS_DISABLE
  std::optional<std::string> xdg_config_home;       // XDG_CONFIG_HOME
  std::optional<std::string> xdg_config_dirs;       // XDG_CONFIG_DIRS
  std::optional<std::string> xdg_data_home;         // XDG_DATA_HOME
  std::optional<std::string> xdg_data_dirs;         // XDG_DATA_DIRS
  std::optional<std::string> library_path;          // LD_LIBRARY_PATH
  std::optional<std::string> nvidia_capabilities;   // NVIDIA_DRIVER_CAPABILITIES, of the container runtime
  std::optional<std::string> nvidia_devices;        // NVIDIA_VISIBLE_DEVICES, of the container runtime
  std::optional<std::string> cuda_visible_devices;  // CUDA_VISIBLE_DEVICES
};

// A variable that is unset or empty is nullopt.
struct Environment {
  std::optional<std::string> home;  // HOME
  std::optional<std::string>
      xdg_cache_home;          // XDG_CACHE_HOME; nullopt unless absolute, as the XDG base directory rules say
  bool no_color = false;       // NO_COLOR is set (no-color.org)
  bool dumb_terminal = false;  // TERM=dumb: no cursor movement
  DriverEnvironment drivers;
};

// Read once at start by the program's main and passed on. Thread safe as long as nobody calls setenv.
Environment ReadEnvironment();

// This process's variables as "NAME=value" for a child, with the changes made; an empty value removes a variable.
std::vector<std::string> ChildVariables(const std::vector<std::pair<std::string, std::string>>& changes);

}  // namespace candor
