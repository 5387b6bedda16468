#include "platform/thread_pool.h"

#include <algorithm>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace candor {
namespace {

// Polls before a waiting thread gives its core away. Between two steps of a decode loop the wait is a few microseconds;
// a wait of more than some tens of microseconds means that the others have no core, and spinning on would keep it from
// them.
constexpr int kBarrierSpins = 2000;
constexpr int kWorkerSpins = 20000;

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

void SpinBarrier::Wait() {
  if (count_ == 1) return;
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  for (int spin = 0; generation_.load(std::memory_order_acquire) == generation; ++spin) {
    if (spin < kBarrierSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void FirstException::SetCurrent() {
  const std::lock_guard lock(mutex_);
  if (!first_) first_ = std::current_exception();
  any_.store(true, std::memory_order_relaxed);
}

void FirstException::RethrowIfAny() {
  if (!any()) return;
  any_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(first_, nullptr));
}

ThreadPool::ThreadPool(int threads) : barrier_(std::max(threads, 1)) {
  workers_.reserve(static_cast<size_t>(std::max(threads, 1) - 1));
  for (int member = 1; member < threads; ++member) {
    workers_.emplace_back([this, member] { WorkerLoop(member); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(const std::function<void(int member)>& body) {
  body_ = &body;
  running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  RunBody(0);
  for (int spin = 0; running_.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < kWorkerSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
  body_ = nullptr;
  failure_.RethrowIfAny();
}

void ThreadPool::RunBody(int member) {
  try {
    (*body_)(member);
  } catch (...) {
    failure_.SetCurrent();
  }
}

void ThreadPool::ParallelFor(int64_t count, int64_t grain,
                             const std::function<void(int64_t begin, int64_t end)>& body) {
  std::atomic<int64_t> next{0};
  Run([&](int) {
    for (;;) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) return;
      body(begin, std::min(begin + grain, count));
    }
  });
}

void ThreadPool::WorkerLoop(int member) {
  uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; epoch_.load(std::memory_order_acquire) == seen; ++spin) {
      if (spin < kWorkerSpins) {
        Pause();
      } else {
        epoch_.wait(seen, std::memory_order_acquire);  // sleeps: the team has been idle for a while
      }
    }
    ++seen;  // Run waits for every member, so no epoch is ever missed
    if (stopping_.load(std::memory_order_relaxed)) return;
    RunBody(member);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace candor
