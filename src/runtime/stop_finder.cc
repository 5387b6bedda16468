#include "runtime/stop_finder.h"

#include <algorithm>
#include <utility>

namespace candor {
namespace {

bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

// The match that ends first; `begin` is where it starts.
bool StopFinder::FindCompleted(size_t& begin) {
  size_t best_end = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = pending_.find(stop);
    if (at == std::string::npos) continue;
    const size_t end = at + stop.size();
    if (end < best_end || (end == best_end && at < begin)) {
      best_end = end;
      begin = at;
      stop_ = stop;
    }
  }
  return best_end != std::string::npos;
}

// Length of the longest end of the pending text that begins a stop string. It never starts inside a character.
size_t StopFinder::HeldBack() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    for (size_t length = std::min(stop.size() - 1, pending_.size()); length > longest; --length) {
      const std::string_view tail = std::string_view(pending_).substr(pending_.size() - length);
      if (!IsContinuationByte(tail[0]) && stop.starts_with(tail)) longest = length;
    }
  }
  return longest;
}

std::string StopFinder::Push(std::string_view piece) {
  pending_ += piece;
  if (size_t begin = 0; FindCompleted(begin)) {
    std::string before = pending_.substr(0, begin);
    pending_.clear();
    return before;
  }
  const size_t certain = pending_.size() - HeldBack();
  std::string text = pending_.substr(0, certain);
  pending_.erase(0, certain);
  return text;
}

std::string StopFinder::Flush() { return std::exchange(pending_, {}); }

}  // namespace candor
