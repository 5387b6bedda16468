#include "platform/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <utility>

namespace candor {
namespace {

std::string PathOfHandle(void* handle, const std::string& name) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return name;
  return *map->l_name == '\0' ? name : map->l_name;
}

}  // namespace

Result<DynamicLibrary> DynamicLibrary::Open(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* said = dlerror();
    const std::string reason = said == nullptr ? "no reason given" : said;
    // The linker reports "NAME: cannot open …" when the library itself is not there; another name means that one of the
    // libraries it needs is missing.
    const bool itself = reason.starts_with(name + ": cannot open shared object file");
    return Status(itself ? StatusCode::kNotFound : StatusCode::kUnavailable,
                  reason.starts_with(name) ? reason : fmt::format("{}: {}", name, reason));
  }
  DynamicLibrary library;
  library.handle_ = handle;
  library.path_ = PathOfHandle(handle, name);
  return library;
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* DynamicLibrary::Symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

std::string FolderOfThisModule() {
  // The main program's name in dladdr is its argv[0], which need not lead to it; /proc/self/exe does.
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&FolderOfThisModule), &info) == 0 || info.dli_fname == nullptr)
    return program.parent_path();
  const std::filesystem::path module = std::filesystem::canonical(info.dli_fname, error);
  const bool is_library = !error && module != program && module.string().find(".so") != std::string::npos;
  return is_library || program.empty() ? module.parent_path() : program.parent_path();
}

}  // namespace candor
