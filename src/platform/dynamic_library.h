// A shared library opened at run time: how GPU loaders and drivers are used without being linked.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace candor {

// Owns one handle. Opening runs the library's constructors: a driver of unknown quality is opened in a probe process
// first. Thread safe.
class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  // `name` is a soname, found as the system's linker does ("libvulkan.so.1"), or a path. NotFound when there is no such
  // file, else Unavailable, with what the linker said (a missing library that it needs, a wrong architecture, …).
  static Result<DynamicLibrary> Open(const std::string& name);
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  // Forgets the library without closing it.
  void Abandon() { handle_ = nullptr; }

  bool open() const { return handle_ != nullptr; }
  // The address of a function; null when the library has none of that name.
  void* Symbol(const char* name) const;
  // The file that was loaded; what was asked for when the system does not tell.
  const std::string& path() const { return path_; }

 private:
  void* handle_ = nullptr;
  std::string path_;
};

// The folder of the module that holds this code (the program, or the shared library that a host program loaded); empty
// when the system does not tell.
std::string FolderOfThisModule();

}  // namespace candor
