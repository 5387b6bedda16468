#include "platform/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "platform/test_folder.h"

namespace candor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = ChildProcess::Clock;

Result<ChildProcess> Shell(const std::string& script) {
  return ChildProcess::Start(
      {"/bin/sh",
       {"-c", script},
       {{"CANDOR_TEST_WORD", "earlier"}, {"CANDOR_TEST_WORD", "hello"}, {"CANDOR_TEST_GONE", ""}}});
}

ChildEnd EndOf(const std::string& script, Clock::duration patience = seconds(60)) {
  auto child = Shell(script);
  EXPECT_TRUE(child.ok()) << child.status().message();
  return child->Finish(Clock::now() + patience);
}

TEST(ChildProcess, GivesLinesVariablesAndTheExitCode) {
  setenv("CANDOR_TEST_GONE", "still here", 1);
  auto child = Shell("echo \"$CANDOR_TEST_WORD\"; echo \"[$CANDOR_TEST_GONE]\"; echo oops >&2; printf last; exit 3");
  unsetenv("CANDOR_TEST_GONE");
  ASSERT_TRUE(child.ok());
  std::string line;
  const auto deadline = Clock::now() + seconds(60);
  ASSERT_EQ(child->ReadLine(line, deadline), ChildProcess::ReadResult::kLine);
  EXPECT_EQ(line, "hello");
  ASSERT_EQ(child->ReadLine(line, deadline), ChildProcess::ReadResult::kLine);
  EXPECT_EQ(line, "[]");
  EXPECT_EQ(child->ReadLine(line, deadline), ChildProcess::ReadResult::kEnd);  // half a line is no line
  const ChildEnd end = child->Finish(deadline);
  EXPECT_EQ(end.how, ChildEnd::How::kExited);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.error_output, "oops\n");
  EXPECT_EQ(end.Describe(), "exited with code 3");
}

TEST(ChildProcess, ASignalIsTold) {
  const ChildEnd end = EndOf("kill -SEGV $$");
  EXPECT_EQ(end.how, ChildEnd::How::kSignal);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.Describe(), "was killed by SIGSEGV");
  EXPECT_EQ(EndOf("kill -ABRT $$").Describe(), "was killed by SIGABRT");
}

TEST(ChildProcess, AHangEndsAtTheDeadlineWithTheWholeGroup) {
  auto child = Shell("sleep 600 & echo $!; trap '' TERM; sleep 600");
  ASSERT_TRUE(child.ok());
  std::string line;
  ASSERT_EQ(child->ReadLine(line, Clock::now() + seconds(60)), ChildProcess::ReadResult::kLine);
  const std::string grandchild_text = line;
  const pid_t grandchild = std::stoi(line);
  EXPECT_EQ(child->ReadLine(line, Clock::now() + milliseconds(50)), ChildProcess::ReadResult::kDeadline);
  const auto before = Clock::now();
  const ChildEnd end = child->Finish(Clock::now());
  EXPECT_EQ(end.how, ChildEnd::How::kDeadline);
  EXPECT_LT(Clock::now() - before, seconds(30));
  // Killed grandchildren are collected by init, or stay as zombies in a container without one.
  for (int i = 0; i < 500 && kill(grandchild, 0) == 0; ++i) std::this_thread::sleep_for(milliseconds(2));
  if (kill(grandchild, 0) == 0) {
    std::ifstream stat("/proc/" + grandchild_text + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
    EXPECT_NE(text.find(") Z"), std::string::npos) << text;
  }
}

TEST(ChildProcess, AChildThatWritesMuchToStderrDoesNotBlock) {
  const ChildEnd end = EndOf(
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done; echo end "
      ">&2");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.how, ChildEnd::How::kExited);
  EXPECT_LE(end.error_output.size(), 4096u);
  EXPECT_TRUE(end.error_output.ends_with("end\n"));
}

TEST(ChildProcess, AnEndlessLineIsRefused) {
  auto child = Shell("head -c 3000000 /dev/zero");
  ASSERT_TRUE(child.ok());
  std::string line;
  EXPECT_EQ(child->ReadLine(line, Clock::now() + seconds(60)), ChildProcess::ReadResult::kTooLong);
}

TEST(ChildProcess, NoOtherDescriptorIsPassedOn) {
  const int open_here = dup(STDERR_FILENO);  // without close-on-exec
  ASSERT_GE(open_here, 3);
  EXPECT_EQ(EndOf(fmt::format("[ ! -e /proc/self/fd/{} ]", open_here)).exit_code, 0);
  close(open_here);
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
  const auto missing = ChildProcess::Start({"/nowhere/candor-probe", {}, {}});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("/nowhere/candor-probe"), std::string::npos);
  const TestFolder folder;
  const auto no_program = ChildProcess::Start({folder.Write("text", "no program"), {}, {}});
  ASSERT_FALSE(no_program.ok());
  EXPECT_EQ(no_program.status().code(), StatusCode::kPermissionDenied);
}

TEST(ChildProcess, ACallerThatIgnoresItsChildrenGetsAnUnknownEnd) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const ChildEnd end = EndOf("exit 0");
  signal(SIGCHLD, before);
  EXPECT_EQ(end.how, ChildEnd::How::kUnknown);
}

TEST(ChildProcess, DroppedWithoutFinishItIsKilled) {
  pid_t pid = 0;
  {
    auto child = Shell("echo $$; exec sleep 600");
    ASSERT_TRUE(child.ok());
    std::string line;
    ASSERT_EQ(child->ReadLine(line, Clock::now() + seconds(60)), ChildProcess::ReadResult::kLine);
    pid = std::stoi(line);
  }
  EXPECT_NE(kill(pid, 0), 0);  // reaped: no such process
}

}  // namespace
}  // namespace candor
