// candor_read_bandwidth: how fast this machine reads memory that does not fit its caches, as the yardstick for decode
// speed.
//
//   candor_read_bandwidth --bytes N --threads T [--rounds R] [--small-pages]
//
// Each thread sums its own contiguous slice of one buffer of N bytes, again and again for about a third of a second a
// round. Prints one JSON object: the gigabytes (1e9 bytes) a second of the slowest, middle and fastest round. Linux
// only.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace candor {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  size_t bytes = 100'000'000;
  int threads = 1;
  int rounds = 5;
  bool huge_pages = true;
};

std::optional<size_t> ParseCount(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--small-pages") {
      options.huge_pages = false;
      continue;
    }
    const std::optional<size_t> value = i + 1 < argc ? ParseCount(argv[++i]) : std::nullopt;
    if (!value) return std::nullopt;
    if (name == "--bytes" && *value >= 4096 && *value <= (size_t{1} << 40)) {
      options.bytes = *value;
    } else if (name == "--threads" && *value <= 1024) {
      options.threads = static_cast<int>(*value);
    } else if (name == "--rounds" && *value <= 1000) {
      options.rounds = static_cast<int>(*value);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

// Sums the words with enough independent accumulators that loads, not additions, are the limit: two 16-byte loads a
// cycle, which any x86-64 can do, are several times what memory delivers to one core.
uint64_t Sum(const uint64_t* words, size_t count) {
  typedef uint64_t Pair __attribute__((vector_size(16)));
  constexpr size_t kAccumulators = 8;
  Pair sums[kAccumulators] = {};
  const auto* pairs = reinterpret_cast<const Pair*>(words);
  for (size_t i = 0; i + kAccumulators <= count / 2; i += kAccumulators) {
#pragma GCC unroll 8
    for (size_t k = 0; k < kAccumulators; ++k) sums[k] += pairs[i + k];
  }
  uint64_t total = 0;
  for (Pair sum : sums) total += sum[0] + sum[1];
  return total;
}

// Seconds from the first thread's start to the last one's end of `passes` passes over `words`. The threads read the
// clock themselves: where there are no more cores than threads, another thread may be woken long after they began.
double TimePasses(std::span<const uint64_t> words, int threads, int passes, uint64_t& checksum) {
  const size_t slice = words.size() / threads / 2 * 2;  // whole 16-byte pairs
  std::barrier barrier(threads);
  std::vector<uint64_t> sums(threads, 0);
  std::vector<Clock::time_point> starts(threads), ends(threads);
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        barrier.arrive_and_wait();
        starts[t] = Clock::now();
        uint64_t sum = 0;
        for (int pass = 0; pass < passes; ++pass) {
          std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler must read the memory again
          sum += Sum(words.data() + slice * t, slice);
        }
        ends[t] = Clock::now();
        sums[t] = sum;
      });
    }
  }
  for (uint64_t sum : sums) checksum += sum;
  const std::chrono::duration<double> seconds =
      *std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end());
  return seconds.count();
}

int Run(const Options& options) {
  void* memory = mmap(nullptr, options.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fmt::print(stderr, "read_bandwidth: expected room for {} bytes, got none; ask for less with --bytes\n",
               options.bytes);
    return 5;
  }
  madvise(memory, options.bytes, options.huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  const std::span<uint64_t> words(static_cast<uint64_t*>(memory), options.bytes / sizeof(uint64_t));
  for (size_t i = 0; i < words.size(); ++i) words[i] = i;

  uint64_t checksum = 0;
  const double once = TimePasses(words, options.threads, 1, checksum);
  const int passes = std::max(1, static_cast<int>(0.33 / once));
  std::vector<double> rates;
  for (int round = 0; round < options.rounds; ++round) {
    const double seconds = TimePasses(words, options.threads, passes, checksum);
    rates.push_back(static_cast<double>(words.size_bytes()) * passes / seconds / 1e9);
  }
  std::sort(rates.begin(), rates.end());
  fmt::print(
      "{{\"bytes\": {}, \"threads\": {}, \"huge_pages\": {}, \"min\": {:.2f}, \"median\": {:.2f}, \"max\": {:.2f}, "
      "\"checksum\": {}}}\n",
      options.bytes, options.threads, options.huge_pages, rates.front(), rates[rates.size() / 2], rates.back(),
      checksum);
  munmap(memory, options.bytes);
  return 0;
}

}  // namespace
}  // namespace candor

int main(int argc, char** argv) {
  const std::optional<candor::Options> options = candor::ParseOptions(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: candor_read_bandwidth --bytes N --threads T [--rounds R] [--small-pages]\n");
    return 2;
  }
  return candor::Run(*options);
}
