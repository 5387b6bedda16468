#include "platform/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "platform/environment.h"
#include "platform/system_error.h"

namespace candor {
namespace {

constexpr size_t kErrorOutputKept = 4096;
constexpr auto kKillPatience = std::chrono::seconds(2);

struct Pipe {
  int read = -1;
  int write = -1;
};

Result<Pipe> MakePipe(const std::string& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return FileError(program, "make a pipe to start it", errno);
  // Only our end is non-blocking: the child's is an ordinary stream.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{ends[0], ends[1]};
}

void Close(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// The C arrays that exec takes, over strings that outlive them.
std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Descriptors and attributes of the new process; freed at the end.
class SpawnPlan {
 public:
  SpawnPlan(int out, int error) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int Spawn(pid_t* pid, const ChildCommand& command) const {
    std::vector<std::string> arguments = command.arguments;
    arguments.insert(arguments.begin(), command.program);
    std::vector<std::string> variables = ChildVariables(command.variables);
    return posix_spawn(pid, command.program.c_str(), &actions_, &attributes_, Pointers(arguments).data(),
                       Pointers(variables).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace

std::string ChildEnd::Describe() const {
  switch (how) {
    case How::kExited:
      return fmt::format("exited with code {}", exit_code);
    case How::kSignal:
      return fmt::format("was killed by {}", SignalName(signal));
    case How::kDeadline:
      return "was not done in time";
    case How::kUnknown:
      break;
  }
  return "ended in a way that the system does not tell";
}

Result<ChildProcess> ChildProcess::Start(const ChildCommand& command) {
  CANDOR_ASSIGN_OR_RETURN(Pipe out, MakePipe(command.program));
  auto error = MakePipe(command.program);
  if (!error.ok()) {
    Close(out.read);
    Close(out.write);
    return error.status();
  }
  ChildProcess child;
  child.out_ = out.read;
  child.error_ = error->read;
  const int failure = SpawnPlan(out.write, error->write).Spawn(&child.pid_, command);
  Close(out.write);
  Close(error->write);
  if (failure == 0) return child;
  child.pid_ = -1;
  return FileError(command.program, "start this program", failure);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::exchange(other.out_, -1)),
      error_(std::exchange(other.error_, -1)),
      output_(std::move(other.output_)),
      error_output_(std::move(other.error_output_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) Finish(Clock::now());
  Close(out_);
  Close(error_);
}

// Takes what the pipe holds, two pipes full at most; closes it at its end.
void ChildProcess::Drain(int& fd, std::string& text) {
  char buffer[1 << 14];
  constexpr int kMostReads = 8;
  for (int reads = 0; fd >= 0 && reads < kMostReads;) {
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
      ++reads;
    } else if (count < 0 && errno == EAGAIN) {
      return;
    } else if (count == 0 || errno != EINTR) {
      Close(fd);
    }
  }
}

// False at the deadline. Both pipes are emptied, so that a child which writes much to stderr never waits for us.
bool ChildProcess::WaitForOutput(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left <= 0) return false;
  pollfd fds[2] = {{out_, POLLIN, 0}, {error_, POLLIN, 0}};  // a negative descriptor is skipped
  if (poll(fds, 2, static_cast<int>(std::min<int64_t>(left, 60'000))) <= 0) return true;
  if (fds[0].revents != 0) Drain(out_, output_);
  if (fds[1].revents != 0) Drain(error_, error_output_);
  if (error_output_.size() > kErrorOutputKept) error_output_.erase(0, error_output_.size() - kErrorOutputKept);
  return true;
}

ChildProcess::ReadResult ChildProcess::ReadLine(std::string& line, Clock::time_point deadline) {
  for (;;) {
    const size_t end = output_.find('\n');
    if (end != std::string::npos && end <= kMaxLine) {
      line = output_.substr(0, end);
      output_.erase(0, end + 1);
      return ReadResult::kLine;
    }
    if (output_.size() > kMaxLine) return ReadResult::kTooLong;
    if (out_ < 0) return ReadResult::kEnd;
    if (!WaitForOutput(deadline)) return ReadResult::kDeadline;
  }
}

void ChildProcess::KillGroup() const {
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // in the short time before the child has made its group
}

// True when the child is gone and `end` says how.
bool ChildProcess::TryReap(ChildEnd& end) {
  int status = 0;
  const pid_t done = waitpid(pid_, &status, WNOHANG);
  if (done == 0 || (done < 0 && errno == EINTR)) return false;
  if (done == pid_ && WIFSIGNALED(status)) {
    end.how = ChildEnd::How::kSignal;
    end.signal = WTERMSIG(status);
  } else if (done == pid_) {
    end.how = ChildEnd::How::kExited;
    end.exit_code = WEXITSTATUS(status);
  }
  return true;
}

ChildEnd ChildProcess::Finish(Clock::time_point deadline) {
  ChildEnd end;
  bool killed = false;
  while (!TryReap(end)) {
    if (!killed && Clock::now() >= deadline) {
      KillGroup();
      killed = true;
      deadline = Clock::now() + kKillPatience;
    } else if (killed && Clock::now() >= deadline) {
      break;
    }
    // With a pipe open its end wakes us; without one there is only looking again.
    if (out_ >= 0 || error_ >= 0) {
      WaitForOutput(std::min(deadline, Clock::now() + std::chrono::milliseconds(5)));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  kill(-pid_, SIGKILL);  // what the child started and left running
  WaitForOutput(Clock::now() + std::chrono::milliseconds(1));
  if (killed) end.how = ChildEnd::How::kDeadline;
  end.error_output = std::move(error_output_);
  pid_ = -1;
  return end;
}

}  // namespace candor
