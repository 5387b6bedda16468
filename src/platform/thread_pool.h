// ThreadPool: a fixed team of threads that run one function together, and a spinning barrier for the steps inside it.
// No lock is taken while a team runs: work is claimed by atomic counters, threads meet at SpinBarrier.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace candor {

// All `count` threads of a team wait here for each other. Spins, and yields the core when the others are late (an
// oversubscribed machine).
class SpinBarrier {
 public:
  explicit SpinBarrier(int count) : count_(count) {}
  void Wait();

 private:
  const int count_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};
};

// The first exception of several threads. Set by any thread; taken by one when the others are done.
class FirstException {
 public:
  void SetCurrent();  // inside a catch block
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void RethrowIfAny();  // and forgets it

 private:
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::exception_ptr first_;
};

class ThreadPool {
 public:
  // A team of `threads` (>= 1): the caller of Run is its member 0, the others are made here.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }
  SpinBarrier& barrier() { return barrier_; }

  // Runs body(member) on every member at once and returns when all are done; rethrows the first exception of a body. A
  // body that waits at the barrier must not throw: the others would wait for ever. One caller at a time.
  void Run(const std::function<void(int member)>& body);

  // Runs body(begin, end) over [0, count) in pieces of `grain`, claimed by whichever member is free.
  void ParallelFor(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

 private:
  void WorkerLoop(int member);
  void RunBody(int member);

  SpinBarrier barrier_;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int> running_{0};
  const std::function<void(int)>* body_ = nullptr;
  FirstException failure_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace candor
