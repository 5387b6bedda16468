#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "platform/atomic_file.h"
#include "platform/environment.h"
#include "platform/paths.h"
#include "platform/sha256.h"
#include "platform/test_folder.h"
#include "platform/text_file.h"

namespace candor {
namespace {

std::string Read(const std::string& path) { return ReadSmallTextFile(path).value_or("<none>"); }

TEST(AtomicFile, WritesAndReplaces) {
  const TestFolder folder;
  const std::string path = folder.Path("out.json");
  ASSERT_TRUE(WriteFileAtomically(path, "first").ok());
  EXPECT_EQ(Read(path), "first");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(WriteFileAtomically(path, "second").ok());
  EXPECT_EQ(Read(path), "second");
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.Entries(), 1u);
}

TEST(AtomicFile, WithoutCommitNothingChanges) {
  const TestFolder folder;
  const std::string path = folder.Write("out", "old");
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(std::as_bytes(std::span<const char>("new", 3))).ok());
    EXPECT_EQ(folder.Entries(), 2u);
  }
  EXPECT_EQ(Read(path), "old");
  EXPECT_EQ(folder.Entries(), 1u);
}

TEST(AtomicFile, DiskFullLeavesNothingBehind) {
  const TestFolder folder;
  const std::string path = folder.Path("big");
  // A limit on the file's size fails a write in the middle, as a full disk does.
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {10'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  auto file = AtomicFile::Create(path);
  const std::string chunk(8'000, 'x');
  const Status first = file.ok() ? file->Append(std::as_bytes(std::span<const char>(chunk))) : file.status();
  const Status second = file.ok() ? file->Append(std::as_bytes(std::span<const char>(chunk))) : file.status();
  const size_t entries = folder.Entries();
  const Status commit = file.ok() ? file->Commit() : file.status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(first.ok()) << first.message();
  EXPECT_EQ(second.code(), StatusCode::kResourceExhausted) << second.message();
  EXPECT_NE(second.message().find(path), std::string::npos);
  EXPECT_EQ(entries, 0u);
  EXPECT_EQ(commit.code(), StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(AtomicFile, DevicesAreWrittenDirectly) {
  EXPECT_TRUE(WriteFileAtomically("/dev/null", "x").ok());
  struct stat info = {};
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "NOT RUN: no /dev/full here";
  EXPECT_EQ(WriteFileAtomically("/dev/full", "x").code(), StatusCode::kResourceExhausted);
}

TEST(AtomicFile, KeepsASymbolicLink) {
  const TestFolder folder;
  const std::string target = folder.Write("target", "old");
  std::filesystem::create_symlink(target, folder.Path("link"));
  ASSERT_TRUE(WriteFileAtomically(folder.Path("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.Path("link")));
  EXPECT_EQ(Read(target), "new");
}

TEST(AtomicFile, BadTargets) {
  const TestFolder folder;
  EXPECT_EQ(WriteFileAtomically("", "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteFileAtomically(folder.path(), "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteFileAtomically(folder.Path("no/such/folder"), "x").code(), StatusCode::kNotFound);
  if (geteuid() == 0) GTEST_SKIP() << "NOT RUN: root may write everywhere";
  ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
  EXPECT_EQ(WriteFileAtomically(folder.Path("file"), "x").code(), StatusCode::kPermissionDenied);
  ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
}

TEST(Sha256, KnownDigests) {
  const TestFolder folder;
  EXPECT_EQ(*Sha256OfFile(folder.Write("abc", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*Sha256OfFile(folder.Write("empty", "")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(*Sha256OfFile(folder.Write("a", std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(*Sha256OfFile(folder.Write("long", std::string(3'000'000, 'a'))),
            *Sha256OfFile(folder.Write("same", std::string(3'000'000, 'a'))));
  EXPECT_EQ(Sha256OfFile(folder.Path("absent")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Sha256OfFile(folder.path()).status().code(), StatusCode::kInvalidArgument);
}

TEST(Paths, CacheDirectory) {
  Environment environment;
  EXPECT_EQ(CacheDirectory(environment).status().code(), StatusCode::kFailedPrecondition);
  environment.home = "/home/me";
  EXPECT_EQ(*CacheDirectory(environment), "/home/me/.cache/candor");
  environment.xdg_cache_home = "/var/cache/me";
  EXPECT_EQ(*CacheDirectory(environment), "/var/cache/me/candor");
}

TEST(Paths, MakeDirectories) {
  const TestFolder folder;
  EXPECT_TRUE(MakeDirectories(folder.Path("a/b c/d")).ok());
  EXPECT_TRUE(MakeDirectories(folder.Path("a/b c/d")).ok());
  EXPECT_FALSE(MakeDirectories(folder.Write("file", "x")).ok());
  EXPECT_FALSE(MakeDirectories(folder.Path("file/inside")).ok());
}

TEST(EnvironmentVariables, AreReadByTheRules) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "relative", 1), 0);
  ASSERT_EQ(setenv("NO_COLOR", "", 1), 0);
  EXPECT_EQ(ReadEnvironment().xdg_cache_home, std::nullopt);
  EXPECT_FALSE(ReadEnvironment().no_color);
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/absolute", 1), 0);
  ASSERT_EQ(setenv("NO_COLOR", "1", 1), 0);
  ASSERT_EQ(setenv("TERM", "dumb", 1), 0);
  EXPECT_EQ(ReadEnvironment().xdg_cache_home, "/absolute");
  EXPECT_TRUE(ReadEnvironment().no_color);
  EXPECT_TRUE(ReadEnvironment().dumb_terminal);
  ASSERT_EQ(unsetenv("XDG_CACHE_HOME"), 0);
  ASSERT_EQ(unsetenv("NO_COLOR"), 0);
}

TEST(TextFile, Numbers) {
  EXPECT_EQ(FindNumber("MemTotal:   12 kB\nMemFree: 3 kB\n", "MemFree:"), 3u);
  EXPECT_EQ(FindNumber("total_inactive_file 9\ninactive_file 5\n", "inactive_file"), 5u);
  EXPECT_EQ(FindNumber("inactive_file_x 5\n", "inactive_file"), std::nullopt);
  EXPECT_EQ(FindNumber("", "a"), std::nullopt);
  EXPECT_EQ(ParseNumber("42\n"), 42u);
  EXPECT_EQ(ParseNumber("max\n"), std::nullopt);
  EXPECT_EQ(ParseNumber("-1\n"), std::nullopt);
  EXPECT_EQ(ParseNumber("99999999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace candor
