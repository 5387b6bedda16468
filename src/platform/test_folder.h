// A temporary folder for one test; gone with everything in it at the end. For tests only.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace candor {

class TestFolder {
 public:
  TestFolder() : path_((std::filesystem::temp_directory_path() / "candor-test-XXXXXX").string()) {
    path_ = mkdtemp(path_.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Writes a file, its folders too; returns its path.
  std::string Write(std::string_view name, std::string_view content) const {
    const std::string path = Path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }

  // Names in the folder itself.
  size_t Entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace candor
