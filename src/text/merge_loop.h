// The merge loop that byte-level BPE and SentencePiece-style BPE share: of all adjacent pairs that may merge, the one
// with the best priority merges first, the leftmost among equals, until none is left. O(n log n) in the length of the
// text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace candor {

struct MergeSymbol {
  uint32_t begin = 0;  // bytes of the text
  uint32_t size = 0;   // 0: merged into the one before
  int32_t previous = -1;
  int32_t next = -1;
};

inline constexpr uint32_t kNoMerge = UINT32_MAX;

// Buffers of one Encode call, kept from word to word so that the loop does not allocate.
class MergeLoop {
 public:
  void Clear() { symbols_.clear(); }

  // Symbols cover the text from left to right without a gap.
  void Add(uint32_t begin, uint32_t size) {
    const auto index = static_cast<int32_t>(symbols_.size());
    if (index > 0) symbols_.back().next = index;
    symbols_.push_back({begin, size, index - 1, -1});
  }

  // `priority(left, right)`: smaller merges first, kNoMerge never. The views lie side by side in `text`.
  template <typename Priority>
  void Run(std::string_view text, const Priority& priority) {
    queue_.clear();
    for (size_t i = 1; i < symbols_.size(); ++i) {
      const int32_t right = static_cast<int32_t>(i);
      if (Pair pair; MakePair(text, priority, right - 1, right, pair)) queue_.push_back(pair);
    }
    std::make_heap(queue_.begin(), queue_.end(), Later);
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), Later);
      const Pair best = queue_.back();
      queue_.pop_back();
      MergeSymbol& left = symbols_[best.left];
      MergeSymbol& right = symbols_[best.right];
      if (left.size == 0 || right.size == 0 || left.size + right.size != best.size)
        continue;  // one of them has merged since
      left.size += right.size;
      right.size = 0;
      left.next = right.next;
      if (right.next >= 0) symbols_[right.next].previous = static_cast<int32_t>(best.left);
      Push(text, priority, left.previous, static_cast<int32_t>(best.left));
      Push(text, priority, static_cast<int32_t>(best.left), left.next);
    }
  }

  // `visit(piece)` for each symbol that is left, in order.
  template <typename Visit>
  void ForEach(std::string_view text, const Visit& visit) const {
    for (int32_t i = symbols_.empty() ? -1 : 0; i >= 0; i = symbols_[i].next) visit(View(text, symbols_[i]));
  }

 private:
  struct Pair {
    uint32_t priority;
    uint32_t left;
    uint32_t right;
    uint32_t size;  // of both together: tells a pair that no longer exists
  };
  static bool Later(const Pair& a, const Pair& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.left > b.left;
  }
  static std::string_view View(std::string_view text, const MergeSymbol& symbol) {
    return text.substr(symbol.begin, symbol.size);
  }

  template <typename Priority>
  bool MakePair(std::string_view text, const Priority& priority, int32_t left, int32_t right, Pair& pair) const {
    const MergeSymbol& a = symbols_[left];
    const MergeSymbol& b = symbols_[right];
    const uint32_t value = priority(View(text, a), View(text, b));
    pair = {value, static_cast<uint32_t>(left), static_cast<uint32_t>(right), a.size + b.size};
    return value != kNoMerge;
  }

  template <typename Priority>
  void Push(std::string_view text, const Priority& priority, int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    if (Pair pair; MakePair(text, priority, left, right, pair)) {
      queue_.push_back(pair);
      std::push_heap(queue_.begin(), queue_.end(), Later);
    }
  }

  std::vector<MergeSymbol> symbols_;
  std::vector<Pair> queue_;
};

}  // namespace candor
