// KvCache: fixed-size pages of keys and values with reference counts, in one pool per group of layers (layers that see
// everything, layers with a sliding window). KvPages: the pages of one sequence. Sharing is copy-on-write; pages behind
// a window are given back. Not thread safe: the engine's caller drives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/cpu_executable.h"
#include "graph/graph.h"
#include "kernels/attention/kv_layout.h"
#include "runtime/kv_memory.h"

namespace candor {

// Where every layer lives: its group, its place in the group's pages, and the size of those pages.
struct KvGeometry {
  struct Group {
    int32_t window = 0;  // 0: pages are kept for ever
    uint64_t page_bytes = 0;
  };
  std::vector<Group> groups;
  std::vector<KvBinding> layers;  // by layer of the graph

  // Bytes that one sequence of `tokens` tokens holds.
  uint64_t BytesFor(int64_t tokens) const;
};
KvGeometry MakeKvGeometry(const std::vector<KvLayer>& layers, DType dtype);

class KvPagePool {
 public:
  // The memory must outlive the pool.
  KvPagePool(uint64_t page_bytes, KvMemory& memory) : page_bytes_(page_bytes), memory_(memory) {}

  Result<std::byte*> Take();      // a page as new (KvMemory) with one reference; ResourceExhausted
  void Share(std::byte* page);    // one more reference
  void Release(std::byte* page);  // one less
  bool IsShared(const std::byte* page) const;
  Status Copy(std::byte* to, const std::byte* from) { return memory_.Copy(to, from, page_bytes_); }
  uint64_t page_bytes() const { return page_bytes_; }
  uint64_t pages_in_use() const { return in_use_; }

 private:
  struct Page {
    std::byte* address = nullptr;
    int32_t references = 0;
  };
  Page& Find(const std::byte* page);
  const Page& Find(const std::byte* page) const;

  uint64_t page_bytes_;
  KvMemory& memory_;
  uint64_t in_use_ = 0;
  std::vector<Page> pages_;                                  // by index
  std::vector<int32_t> free_;                                // indices without references
  std::vector<std::pair<const std::byte*, int32_t>> index_;  // address to index, sorted
};

class KvCache {
 public:
  explicit KvCache(KvGeometry geometry, std::unique_ptr<KvMemory> memory = MakeHostKvMemory());
  const KvGeometry& geometry() const { return geometry_; }
  KvPagePool& pool(size_t group) { return pools_[group]; }
  uint64_t BytesInUse() const;

 private:
  KvGeometry geometry_;
  std::unique_ptr<KvMemory> memory_;
  std::vector<KvPagePool> pools_;
};

// The page tables of one sequence, one per group. A null page lies behind a window.
class KvPages {
 public:
  explicit KvPages(KvCache& cache);
  ~KvPages();
  KvPages(const KvPages&) = delete;
  KvPages& operator=(const KvPages&) = delete;

  // Makes positions [begin, end) writable: new pages, and copies of shared ones. On an error nothing has changed.
  Status Prepare(int64_t begin, int64_t end);
  // Gives back the pages behind every window once the next position is `length`.
  void ReleaseBehindWindows(int64_t length);
  // Drops the pages that hold no position below `length`. FailedPrecondition when a window needs pages that were given
  // back.
  Status Truncate(int64_t length);
  // Shares the first `length` positions of another sequence.
  void ShareFrom(const KvPages& other, int64_t length);

  std::byte* const* table(size_t group) const { return tables_[group].data(); }

 private:
  // A page to put into a table, in the place of a shared one or of none.
  struct Change {
    size_t group;
    size_t page;
    std::byte* fresh;
    std::byte* shared;
  };
  Status TakePages(int64_t begin, int64_t end, std::vector<Change>& changes);

  KvCache& cache_;
  std::vector<std::vector<std::byte*>> tables_;  // [group][page]
};

}  // namespace candor
