// Finding files as the system's linker and the Vulkan loader do, below an injected root. Private to src/probe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/environment.h"

namespace candor {

std::vector<std::string> SplitList(std::string_view text, char separator);
// The entries of a folder by name; empty when there is none.
std::vector<std::string> ListFolder(const std::string& path);

// The folders that the linker looks through: LD_LIBRARY_PATH, /etc/ld.so.conf.d and the usual ones.
std::vector<std::string> LibraryFolders(const std::string& root, const Environment& environment);
// The path of a library without the root; empty when it is nowhere. A name with a slash is looked for there alone.
std::string FindLibrary(const std::string& root, const std::vector<std::string>& folders, const std::string& name);
// "libcuda.so.1" → libcuda.so.580.95.05 → "580.95.05"; empty when the name of the real file has no such end.
std::string LibraryVersion(const std::string& root, const std::string& path);

}  // namespace candor
