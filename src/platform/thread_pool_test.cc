#include "platform/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace candor {
namespace {

TEST(ThreadPool, EveryMemberRunsOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<int> calls(static_cast<size_t>(threads), 0);
    for (int repeat = 0; repeat < 100; ++repeat) pool.Run([&](int member) { ++calls[static_cast<size_t>(member)]; });
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(threads), 100));
  }
}

TEST(ThreadPool, ParallelForCoversTheRangeOnce) {
  ThreadPool pool(3);
  for (int64_t count : {0, 1, 7, 1000}) {
    std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
    pool.ParallelFor(count, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
    });
    for (const auto& hit : hits) EXPECT_EQ(hit.load(), 1);
  }
}

TEST(ThreadPool, AnExceptionOfAnyMemberReachesTheCallerAndTheTeamLivesOn) {
  ThreadPool pool(3);
  for (int thrower = 0; thrower < 3; ++thrower) {
    EXPECT_THROW(pool.Run([&](int member) {
      if (member == thrower) throw std::runtime_error("no");
    }),
                 std::runtime_error);
  }
  EXPECT_THROW(pool.ParallelFor(100, 1, [](int64_t, int64_t) { throw std::runtime_error("no"); }), std::runtime_error);
  std::atomic<int> calls{0};
  pool.Run([&](int) { ++calls; });
  EXPECT_EQ(calls.load(), 3);
}

TEST(ThreadPool, BarrierSeparatesSteps) {
  ThreadPool pool(4);
  std::vector<int> values(4, 0);
  bool ordered = true;
  pool.Run([&](int member) {
    for (int step = 0; step < 200; ++step) {
      values[static_cast<size_t>(member)] = step;
      pool.barrier().Wait();
      if (member == 0) ordered = ordered && std::accumulate(values.begin(), values.end(), 0) == 4 * step;
      pool.barrier().Wait();
    }
  });
  EXPECT_TRUE(ordered);
}

}  // namespace
}  // namespace candor
