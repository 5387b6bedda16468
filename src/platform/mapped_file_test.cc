#include "platform/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "platform/test_folder.h"

namespace candor {
namespace {

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFile, MapsAndReads) {
  const TestFolder folder;
  const std::string path = folder.Write("with spaces/ä file", "hello candor");
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(TextOf((*file)->bytes()), "hello candor");
  std::byte part[6];
  ASSERT_TRUE((*file)->ReadAt(6, part).ok());
  EXPECT_EQ(TextOf(part), "candor");
  EXPECT_EQ((*file)->ReadAt(7, part).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*file)->ReadAt(~uint64_t{0}, part).code(), StatusCode::kDataLoss);
  EXPECT_TRUE((*file)->CheckUnchanged().ok());
  EXPECT_TRUE((*file)->ReadAt(12, {}).ok());
}

TEST(MappedFile, SaysWhatIsNoModelFile) {
  const TestFolder folder;
  EXPECT_EQ(MappedFile::Open(folder.Path("absent")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(folder.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(MappedFile::Open(folder.path()).status().message().find("got a directory"), std::string::npos);
  EXPECT_EQ(MappedFile::Open(folder.Write("empty", "")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open(std::string("a\0b", 3)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open(folder.Path(std::string(300, 'x'))).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open(folder.Write("file", "x") + "/inside").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open("/dev/zero").status().code(), StatusCode::kInvalidArgument);
}

TEST(MappedFile, APipeDoesNotHang) {
  const TestFolder folder;
  const std::string path = folder.Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(path).status().code(), StatusCode::kInvalidArgument);
}

TEST(MappedFile, NoPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "NOT RUN: root may read everything";
  const TestFolder folder;
  const std::string path = folder.Write("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  EXPECT_EQ(MappedFile::Open(path).status().code(), StatusCode::kPermissionDenied);
}

TEST(MappedFile, AFileThatShrinksIsAnError) {
  const TestFolder folder;
  const std::string path = folder.Write("model", std::string(100'000, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(truncate(path.c_str(), 50'000), 0);
  EXPECT_EQ((*file)->CheckUnchanged().code(), StatusCode::kDataLoss);
  std::vector<std::byte> out(1000);
  EXPECT_TRUE((*file)->ReadAt(0, out).ok());
  EXPECT_EQ((*file)->ReadAt(49'500, out).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*file)->ReadAt(99'000, out).code(), StatusCode::kDataLoss);
}

TEST(MappedFile, DroppedPagesComeBack) {
  const TestFolder folder;
  const auto file = MappedFile::Open(folder.Write("model", std::string(100'000, 'x')));
  ASSERT_TRUE(file.ok());
  (*file)->WillNeed(0, ~uint64_t{0});
  (*file)->Drop(10, 90'000);
  (*file)->Drop(99'000, ~uint64_t{0});
  (*file)->Drop(~uint64_t{0}, 5);
  EXPECT_EQ(TextOf((*file)->bytes()), std::string(100'000, 'x'));
}

TEST(MappedFile, FromMemory) {
  std::vector<std::byte> content(5, std::byte{'y'});
  const auto file = MappedFile::FromMemory("made up", content);
  EXPECT_EQ(TextOf(file->bytes()), "yyyyy");
  EXPECT_FALSE(file->on_disk());
  std::byte out[2];
  EXPECT_TRUE(file->ReadAt(3, out).ok());
  EXPECT_EQ(file->ReadAt(4, out).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(file->CheckUnchanged().ok());
}

}  // namespace
}  // namespace candor
