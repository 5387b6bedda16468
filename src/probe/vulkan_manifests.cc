#include "probe/vulkan_manifests.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "platform/text_file.h"
#include "probe/device_json.h"
#include "probe/file_search.h"

namespace candor {
namespace {

namespace fs = std::filesystem;

// The folders of the XDG rules, then Vulkan's own, in the loader's order.
std::vector<std::string> ManifestFolders(const Environment& environment) {
  const DriverEnvironment& drivers = environment.drivers;
  std::vector<std::string> bases;
  const std::string home = environment.home.value_or("");
  if (drivers.xdg_config_home || !home.empty()) bases.push_back(drivers.xdg_config_home.value_or(home + "/.config"));
  for (std::string& base : SplitList(drivers.xdg_config_dirs.value_or("/etc/xdg"), ':'))
    bases.push_back(std::move(base));
  bases.emplace_back("/usr/local/etc");
  bases.emplace_back("/etc");
  if (drivers.xdg_data_home || !home.empty()) bases.push_back(drivers.xdg_data_home.value_or(home + "/.local/share"));
  for (std::string& base : SplitList(drivers.xdg_data_dirs.value_or("/usr/local/share:/usr/share"), ':')) {
    bases.push_back(std::move(base));
  }
  std::vector<std::string> folders;
  for (const std::string& base : bases) {
    const std::string folder = base + "/vulkan/icd.d";
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  return folders;
}

bool IsDisabled(const DriverEnvironment& drivers, const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto fits_any = [&](const std::optional<std::string>& patterns) {
    const std::vector<std::string> list = SplitList(patterns.value_or(""), ',');
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  };
  if (drivers.vk_drivers_select && !fits_any(drivers.vk_drivers_select)) return true;
  return fits_any(drivers.vk_drivers_disable);
}

ManifestFact ReadManifest(const FactSources& sources, const std::vector<std::string>& library_folders,
                          const std::string& path) {
  ManifestFact fact;
  fact.path = path;
  fact.disabled = IsDisabled(sources.environment.drivers, path);
  const auto text = ReadSmallTextFile(sources.root + path);
  if (!text) {
    fact.problem = "it cannot be read";
    return fact;
  }
  const Json json = ParseJson(*text);
  if (json.is_discarded() || !json.is_object() || !json.contains("ICD")) {
    fact.problem = json.is_discarded() ? "it is no JSON" : "it has no \"ICD\"";
    return fact;
  }
  fact.library = TextAt(json["ICD"], "library_path").value_or("");
  if (fact.library.empty()) {
    fact.problem = "it names no \"library_path\"";
    return fact;
  }
  // A path that is not absolute and no bare name is relative to the manifest.
  const bool relative = fact.library.front() != '/' && fact.library.find('/') != std::string::npos;
  const std::string library =
      relative ? (fs::path(path).parent_path() / fact.library).lexically_normal().string() : fact.library;
  fact.library_path = FindLibrary(sources.root, library_folders, library);
  return fact;
}

}  // namespace

void FindVulkanManifests(const FactSources& sources, const std::vector<std::string>& library_folders,
                         DriverFacts& facts) {
  const DriverEnvironment& drivers = sources.environment.drivers;
  std::vector<std::string> paths;
  const auto add_folder = [&](const std::string& folder) {
    facts.searched.push_back(folder);
    for (const std::string& name : ListFolder(sources.root + folder)) {
      if (name.ends_with(".json")) paths.push_back(folder + "/" + name);
    }
  };
  const auto add_listed = [&](const std::string& list, std::vector<std::string>* gone) {
    for (const std::string& item : SplitList(list, ':')) {
      std::error_code error;
      if (fs::is_directory(sources.root + item, error)) {
        add_folder(item);
      } else if (fs::exists(sources.root + item, error)) {
        paths.push_back(item);
      } else if (gone != nullptr) {
        gone->push_back(item);
      }
    }
  };
  add_listed(drivers.vk_add_driver_files.value_or(""), nullptr);
  if (drivers.vk_driver_files || drivers.vk_icd_filenames) {
    facts.override_variable = drivers.vk_driver_files ? "VK_DRIVER_FILES" : "VK_ICD_FILENAMES";
    add_listed(drivers.vk_driver_files ? *drivers.vk_driver_files : *drivers.vk_icd_filenames, &facts.override_gone);
  } else {
    for (const std::string& folder : ManifestFolders(sources.environment)) add_folder(folder);
  }
  for (const std::string& path : paths) facts.manifests.push_back(ReadManifest(sources, library_folders, path));
}

}  // namespace candor
