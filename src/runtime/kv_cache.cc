#include "runtime/kv_cache.h"

#include <algorithm>

#include "base/check.h"

namespace candor {
namespace {

constexpr size_t kAlignment = 64;

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t PageOf(int64_t position) { return position / kPageTokens; }
int64_t PagesFor(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

// The first position that a row at `position` sees through `window`.
int64_t WindowStart(int64_t position, int32_t window) {
  return window == 0 ? 0 : std::max<int64_t>(0, position - window + 1);
}

}  // namespace

uint64_t KvGeometry::BytesFor(int64_t tokens) const {
  uint64_t bytes = 0;
  for (const Group& group : groups) {
    // A window touches at most one page more than its length needs.
    const int64_t held = group.window == 0 ? PagesFor(tokens) : std::min(PagesFor(tokens), PagesFor(group.window) + 1);
    bytes += static_cast<uint64_t>(held) * group.page_bytes;
  }
  return bytes;
}

KvGeometry MakeKvGeometry(const std::vector<KvLayer>& layers, DType dtype) {
  const size_t element = Traits(dtype).block_bytes;
  KvGeometry geometry;
  for (const KvLayer& layer : layers) {
    auto group = std::find_if(geometry.groups.begin(), geometry.groups.end(),
                              [&](const KvGeometry::Group& candidate) { return candidate.window == layer.window; });
    if (group == geometry.groups.end()) group = geometry.groups.insert(group, KvGeometry::Group{layer.window, 0});
    KvBinding binding;
    binding.group = static_cast<int32_t>(group - geometry.groups.begin());
    KvLayerLayout& layout = binding.layout;
    layout.dtype = dtype;
    layout.kv_heads = layer.kv_heads;
    layout.key_dim = layer.key_dim;
    layout.value_dim = layer.value_dim;
    layout.key_head_stride = RoundUp(static_cast<size_t>(layer.key_dim) * kPageTokens * element);
    layout.value_head_stride = RoundUp(static_cast<size_t>(layer.value_dim) * kPageTokens * element);
    layout.key_offset = group->page_bytes;
    layout.value_offset = layout.key_offset + static_cast<size_t>(layer.kv_heads) * layout.key_head_stride;
    group->page_bytes = layout.value_offset + static_cast<size_t>(layer.kv_heads) * layout.value_head_stride;
    geometry.layers.push_back(binding);
  }
  return geometry;
}

// ---- KvPagePool

KvPagePool::Page& KvPagePool::Find(const std::byte* page) {
  return const_cast<Page&>(static_cast<const KvPagePool*>(this)->Find(page));
}

const KvPagePool::Page& KvPagePool::Find(const std::byte* page) const {
  const auto entry = std::lower_bound(index_.begin(), index_.end(), std::pair<const std::byte*, int32_t>(page, 0));
  CANDOR_CHECK(entry != index_.end() && entry->first == page, "kv page");
  return pages_[static_cast<size_t>(entry->second)];
}

Result<std::byte*> KvPagePool::Take() {
  if (free_.empty()) {
    CANDOR_ASSIGN_OR_RETURN(std::byte* const address, memory_.NewPage(page_bytes_));
    const std::pair<const std::byte*, int32_t> entry(address, static_cast<int32_t>(pages_.size()));
    index_.insert(std::upper_bound(index_.begin(), index_.end(), entry), entry);
    free_.push_back(entry.second);
    pages_.push_back(Page{address, 0});
  } else {
    memory_.Clear(pages_[static_cast<size_t>(free_.back())].address, page_bytes_);
  }
  Page& page = pages_[static_cast<size_t>(free_.back())];
  free_.pop_back();
  page.references = 1;
  ++in_use_;
  return page.address;
}

void KvPagePool::Share(std::byte* page) { ++Find(page).references; }

void KvPagePool::Release(std::byte* page) {
  Page& found = Find(page);
  if (--found.references > 0) return;
  free_.push_back(static_cast<int32_t>(&found - pages_.data()));
  --in_use_;
}

bool KvPagePool::IsShared(const std::byte* page) const { return Find(page).references > 1; }

// ---- KvCache

KvCache::KvCache(KvGeometry geometry, std::unique_ptr<KvMemory> memory)
    : geometry_(std::move(geometry)), memory_(std::move(memory)) {
  for (const KvGeometry::Group& group : geometry_.groups) pools_.emplace_back(group.page_bytes, *memory_);
}

uint64_t KvCache::BytesInUse() const {
  uint64_t bytes = 0;
  for (const KvPagePool& pool : pools_) bytes += pool.pages_in_use() * pool.page_bytes();
  return bytes;
}

// ---- KvPages

KvPages::KvPages(KvCache& cache) : cache_(cache), tables_(cache.geometry().groups.size()) {}

KvPages::~KvPages() {
  for (size_t group = 0; group < tables_.size(); ++group) {
    for (std::byte* page : tables_[group]) {
      if (page != nullptr) cache_.pool(group).Release(page);
    }
  }
}

Status KvPages::Prepare(int64_t begin, int64_t end) {
  std::vector<Change> changes;
  Status status = TakePages(begin, end, changes);
  for (const Change& change : changes) {
    if (status.ok() && change.shared != nullptr) status = cache_.pool(change.group).Copy(change.fresh, change.shared);
  }
  for (const Change& change : changes) {
    KvPagePool& pool = cache_.pool(change.group);
    if (!status.ok()) {
      pool.Release(change.fresh);
      continue;
    }
    std::vector<std::byte*>& table = tables_[change.group];
    if (change.page >= table.size()) table.resize(change.page + 1, nullptr);
    if (change.shared != nullptr) pool.Release(change.shared);
    table[change.page] = change.fresh;
  }
  return status;
}

Status KvPages::TakePages(int64_t begin, int64_t end, std::vector<Change>& changes) {
  for (size_t group = 0; group < tables_.size(); ++group) {
    KvPagePool& pool = cache_.pool(group);
    for (int64_t page = PageOf(begin); page < PagesFor(end); ++page) {
      const size_t i = static_cast<size_t>(page);
      std::byte* const present = i < tables_[group].size() ? tables_[group][i] : nullptr;
      if (present != nullptr && !pool.IsShared(present)) continue;
      CANDOR_ASSIGN_OR_RETURN(std::byte* const fresh, pool.Take());
      changes.push_back({group, i, fresh, present});
    }
  }
  return OkStatus();
}

void KvPages::ReleaseBehindWindows(int64_t length) {
  for (size_t group = 0; group < tables_.size(); ++group) {
    const int32_t window = cache_.geometry().groups[group].window;
    const int64_t first_kept = PageOf(WindowStart(length, window));
    for (int64_t page = first_kept - 1; page >= 0 && tables_[group][static_cast<size_t>(page)] != nullptr; --page) {
      cache_.pool(group).Release(tables_[group][static_cast<size_t>(page)]);
      tables_[group][static_cast<size_t>(page)] = nullptr;
    }
  }
}

Status KvPages::Truncate(int64_t length) {
  for (size_t group = 0; group < tables_.size(); ++group) {
    const int32_t window = cache_.geometry().groups[group].window;
    for (int64_t page = PageOf(WindowStart(length, window)); page < PagesFor(length); ++page) {
      if (tables_[group][static_cast<size_t>(page)] == nullptr) {
        return FailedPreconditionError(
            "sequence: cannot go back to {} tokens: its sliding-window layers have given back position {}; "
            "start the sequence again",
            length, page * kPageTokens);
      }
    }
  }
  for (size_t group = 0; group < tables_.size(); ++group) {
    std::vector<std::byte*>& table = tables_[group];
    while (static_cast<int64_t>(table.size()) > PagesFor(length)) {
      if (table.back() != nullptr) cache_.pool(group).Release(table.back());
      table.pop_back();
    }
  }
  return OkStatus();
}

void KvPages::ShareFrom(const KvPages& other, int64_t length) {
  for (size_t group = 0; group < tables_.size(); ++group) {
    CANDOR_CHECK(tables_[group].empty(), "kv pages: share into a used sequence");
    const std::vector<std::byte*>& source = other.tables_[group];
    tables_[group].assign(source.begin(), source.begin() + PagesFor(length));
    for (std::byte* page : tables_[group]) {
      if (page != nullptr) cache_.pool(group).Share(page);
    }
  }
}

}  // namespace candor
