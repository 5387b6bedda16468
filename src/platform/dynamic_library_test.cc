#include "platform/dynamic_library.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "platform/test_folder.h"

namespace candor {
namespace {

TEST(DynamicLibrary, OpensAndFindsAFunction) {
  auto library = DynamicLibrary::Open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  const auto cosine = reinterpret_cast<double (*)(double)>(library->Symbol("cos"));
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library->Symbol("no_such_function"), nullptr);
  EXPECT_NE(library->path().find("/libm.so.6"), std::string::npos) << library->path();
  const DynamicLibrary moved = std::move(*library);
  EXPECT_TRUE(moved.open());
  EXPECT_NE(moved.Symbol("sin"), nullptr);
}

TEST(DynamicLibrary, AMissingOneIsNotFound) {
  const auto library = DynamicLibrary::Open("libcandor_no_such.so.9");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kNotFound);
  EXPECT_NE(library.status().message().find("libcandor_no_such.so.9: cannot open"), std::string::npos);
}

TEST(DynamicLibrary, AFileThatIsNoLibraryIsUnavailable) {
  const TestFolder folder;
  const auto library = DynamicLibrary::Open(folder.Write("libbroken.so", "not an ELF file, only text"));
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(library.status().message().find("libbroken.so"), std::string::npos);
}

TEST(DynamicLibrary, ThisModuleIsTheTestProgram) {
  EXPECT_EQ(FolderOfThisModule(), std::filesystem::read_symlink("/proc/self/exe").parent_path());
}

}  // namespace
}  // namespace candor
