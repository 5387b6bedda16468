// FirstError: the first failure of several threads that share a piece of work.
#pragma once

#include <atomic>
#include <mutex>

#include "base/status.h"

namespace candor {

class FirstError {
 public:
  void Set(Status status) {
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
    failed_.store(true, std::memory_order_relaxed);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  const Status& status() const { return status_; }  // when the threads are done

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
  Status status_;
};

}  // namespace candor
