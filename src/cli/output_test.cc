#include "cli/output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace candor::cli {
namespace {

namespace fs = std::filesystem;

class OutputTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "candor_output_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const char* name) const { return (folder_ / name).string(); }
  size_t FilesInFolder() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(OutputTest, AppearsWholeOnCommit) {
  ASSERT_TRUE(WriteWholeFile(Path("a"), "old").ok());
  {
    auto file = OutputFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Write(std::as_bytes(std::span("new", 3))).ok());
    EXPECT_EQ(*ReadWholeFile(Path("a")), "old");
    ASSERT_TRUE((*file)->Commit().ok());
  }
  EXPECT_EQ(*ReadWholeFile(Path("a")), "new");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(OutputTest, LeavesNothingWithoutCommit) {
  {
    auto file = OutputFile::Create(Path("b"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Write(std::as_bytes(std::span("half", 4))).ok());
    EXPECT_FALSE(fs::exists(Path("b")));
  }
  EXPECT_EQ(FilesInFolder(), 0u);
}

TEST_F(OutputTest, ReplacesTheTargetOfALinkNotTheLink) {
  ASSERT_TRUE(WriteWholeFile(Path("target"), "old").ok());
  fs::create_symlink("target", Path("link"));
  ASSERT_TRUE(WriteWholeFile(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*ReadWholeFile(Path("target")), "new");
}

TEST_F(OutputTest, SaysWhatCannotBeWritten) {
  EXPECT_EQ(CheckWritable(Path("no/such/folder")).code(), StatusCode::kNotFound);
  EXPECT_EQ(CheckWritable(folder_.string()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckWritable("").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(CheckWritable("/dev/null").ok());
  EXPECT_FALSE(WriteWholeFile("/dev/full", std::string(100000, 'x')).ok());
  EXPECT_FALSE(WriteWholeFile("/dev/full", "x").ok());
}

TEST_F(OutputTest, ReadingSaysWhatIsWrong) {
  EXPECT_EQ(ReadWholeFile(Path("absent")).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(ReadWholeFile(folder_.string()).ok());
  EXPECT_EQ(ReadWholeFile("/dev/zero").status().code(), StatusCode::kInvalidArgument);  // it would never end
}

}  // namespace
}  // namespace candor::cli
