#include "probe/file_search.h"

#include <algorithm>
#include <filesystem>

#include "platform/text_file.h"

namespace candor {

namespace fs = std::filesystem;

std::vector<std::string> SplitList(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(separator));
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
  return items;
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> LibraryFolders(const std::string& root, const Environment& environment) {
  std::vector<std::string> folders = SplitList(environment.drivers.library_path.value_or(""), ':');
  for (const std::string& name : ListFolder(root + "/etc/ld.so.conf.d")) {
    const auto text = ReadSmallTextFile(root + "/etc/ld.so.conf.d/" + name);
    for (const std::string& line : SplitList(text.value_or(""), '\n')) {
      if (line.front() == '/') folders.push_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
    }
  }
  for (const char* folder :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
        "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/lib/wsl/lib"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

std::string FindLibrary(const std::string& root, const std::vector<std::string>& folders, const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) return fs::exists(root + name, error) ? name : "";
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name;
    if (fs::exists(root + path, error)) return path;
  }
  return "";
}

std::string LibraryVersion(const std::string& root, const std::string& path) {
  std::error_code error;
  const std::string real = fs::canonical(root + path, error).filename();
  const size_t suffix = real.find(".so.");
  if (path.empty() || error || suffix == std::string::npos) return "";
  const std::string version = real.substr(suffix + 4);
  return version.find('.') == std::string::npos ? "" : version;
}

}  // namespace candor
