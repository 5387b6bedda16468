#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/exit_code.h"
#include "cli/output.h"

namespace candor::cli {
namespace {

// A signal handler can reach nothing but globals. The event is readable while an interrupt is due: a signal that comes
// just before ReadLine waits, or to another thread, still wakes it.
std::atomic<bool> interrupted{false};
std::atomic<int> interrupt_event{-1};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "the signal handler must not lock");

void OnInterrupt(int) {
  if (interrupted.exchange(true)) ::_exit(static_cast<int>(ExitCode::kCancelled));
  const int error = errno;
  (void)::eventfd_write(interrupt_event, 1);
  errno = error;
}

void InstallHandler(int signal_number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal_number, &action, nullptr);
}

// A signal that the caller has set to be ignored (nohup, a background job of a script) stays so.
void InstallInterrupt(int signal_number) {
  struct sigaction current {};
  ::sigaction(signal_number, nullptr, &current);
  if (current.sa_handler != SIG_IGN) InstallHandler(signal_number, OnInterrupt);
}

}  // namespace

void PrepareProcess() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened the wrong way round on purpose: using it fails as using a closed one would.
    if (::fcntl(descriptor, F_GETFD) == -1) (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  interrupt_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) InstallHandler(ignored, SIG_IGN);
  for (const int interrupting : {SIGINT, SIGTERM, SIGHUP}) InstallInterrupt(interrupting);
}

const std::atomic<bool>& Interrupted() { return interrupted; }
void ClearInterrupt() {
  interrupted = false;
  eventfd_t count = 0;
  (void)::eventfd_read(interrupt_event, &count);
}
void RequestInterrupt() { interrupted = true; }

bool StdinIsTerminal() { return ::isatty(STDIN_FILENO) == 1; }
bool StdoutIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool StderrIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

bool WaitFor(int descriptor, short events) {
  for (;;) {
    const bool due = interrupted;
    std::array<pollfd, 2> waits = {{{descriptor, events, 0}, {interrupt_event, POLLIN, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), due ? 0 : -1);
    if (ready > 0 && waits[0].revents != 0) return true;
    if (due) return false;
    if (ready > 0 && !interrupted) ClearInterrupt();  // an event whose interrupt was cleared before it arrived
    if (ready < 0 && errno != EINTR) return true;     // the call that follows says what is wrong
  }
}

LineEnd ReadLine(std::string& line) {
  line.clear();
  for (;;) {
    if (!WaitFor(STDIN_FILENO, POLLIN) || interrupted) return LineEnd::kInterrupted;
    char c = 0;
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count == 1 && c == '\n') return LineEnd::kLine;
    if (count == 1) {
      line += c;
    } else if (count == 0 || errno != EINTR) {
      return line.empty() ? LineEnd::kEndOfFile : LineEnd::kLine;
    }
  }
}

ProgressLine::ProgressLine(std::string label) : label_(std::move(label)), enabled_(StderrIsTerminal()) {}

ProgressLine::~ProgressLine() {
  if (shown_) WriteStderr("\r\x1b[K");
}

void ProgressLine::Update(uint64_t done, uint64_t total) {
  if (!enabled_ || total == 0 || watch_.Milliseconds() < 1000) return;
  const int percent = static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total));
  if (percent == last_percent_) return;
  last_percent_ = percent;
  shown_ = true;
  WriteStderr(fmt::format("\r{} {:3}%", label_, percent));
}

}  // namespace candor::cli
