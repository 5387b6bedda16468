// A child program with pipes, deadlines and no way to take the caller down: how drivers are tried out.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace candor {

struct ChildCommand {
  std::string program;                 // a path
  std::vector<std::string> arguments;  // without the program's name
  // Variables set for the child on top of this process's own; an empty value removes one.
  std::vector<std::pair<std::string, std::string>> variables;
};

// How a child ended.
struct ChildEnd {
  enum class How {
    kExited,    // by itself, with exit_code
    kSignal,    // by a signal that this class did not send
    kDeadline,  // killed: it was not done in time
    kUnknown,   // the caller's process collected it first (SIGCHLD is ignored, or a handler waits for every child)
  };
  How how = How::kUnknown;
  int exit_code = 0;
  int signal = 0;
  std::string error_output;  // the last 4 KiB of its stderr

  std::string Describe() const;  // "was killed by SIGSEGV", "exited with code 3", "was not done in time"
};

// A running child, in a process group of its own. Only stdout, stderr and an empty stdin are passed on. Whatever is
// left of the group is killed by Finish and by the destructor; a process that is stuck in the kernel is left behind
// after two seconds. One thread at a time.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxLine = size_t{1} << 20;

  // NotFound, PermissionDenied (not executable), ResourceExhausted (no process or pipe to be had).
  static Result<ChildProcess> Start(const ChildCommand& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  enum class ReadResult { kLine, kEnd, kDeadline, kTooLong };
  // The next line of its stdout, without the newline. kEnd: the child closed stdout, or died. kTooLong: more than
  // kMaxLine without a newline.
  ReadResult ReadLine(std::string& line, Clock::time_point deadline);

  // Waits until the child is done, kills the group at the deadline, and tells how it ended. Once, last.
  ChildEnd Finish(Clock::time_point deadline);

 private:
  ChildProcess() = default;
  bool WaitForOutput(Clock::time_point deadline);
  void Drain(int& fd, std::string& text);
  bool TryReap(ChildEnd& end);
  void KillGroup() const;
  int pid_ = -1;
  int out_ = -1;
  int error_ = -1;
  std::string output_;
  std::string error_output_;
};

}  // namespace candor
