// The terminal and the signals of the process: Ctrl-C, line input, progress on stderr.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace candor::cli {

// Opens the standard descriptors that the caller closed (so that no file can take their number), ignores SIGPIPE and
// SIGXFSZ (a closed reader and a limit on file sizes are errors of the write) and makes Ctrl-C, SIGTERM and SIGHUP set
// Interrupted(). A second one before ClearInterrupt ends the program with exit code 7.
void PrepareProcess();

const std::atomic<bool>& Interrupted();
void ClearInterrupt();
void RequestInterrupt();  // as the first Ctrl-C does: ends a reply whose reader has gone

bool StdinIsTerminal();
bool StdoutIsTerminal();
bool StderrIsTerminal();

// Waits until the descriptor is ready for `events` of poll, false when it is not and an interrupt is due.
bool WaitFor(int descriptor, short events);

enum class LineEnd { kLine, kEndOfFile, kInterrupted };
// One line of stdin without its newline, edited by the terminal itself.
LineEnd ReadLine(std::string& line);

// A progress line on stderr for what takes over a second, on a terminal only. Gone when it ends.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void Update(uint64_t done, uint64_t total);

 private:
  std::string label_;
  bool enabled_;
  bool shown_ = false;
  int last_percent_ = -1;
  Stopwatch watch_;
};

}  // namespace candor::cli
