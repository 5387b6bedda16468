// Clock and PhaseTimer: named phases of a run, timed apart (probe, open, verify, tokenizer, weights, compile, warmup,
// prefill, first_token, decode, teardown).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace candor {

class Stopwatch {
 public:
  double Milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class PhaseTimer {
 public:
  // Adds to the phase of that name, keeping the order of first use.
  void Add(std::string_view phase, double milliseconds);
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::vector<std::pair<std::string, double>> phases_;
};

// Times its own life as one phase; a null timer is allowed.
class ScopedPhase {
 public:
  ScopedPhase(PhaseTimer* timer, std::string_view phase) : timer_(timer), phase_(phase) {}
  ~ScopedPhase() {
    if (timer_ != nullptr) timer_->Add(phase_, watch_.Milliseconds());
  }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;

 private:
  PhaseTimer* timer_;
  std::string phase_;
  Stopwatch watch_;
};

}  // namespace candor
