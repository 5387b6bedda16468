// StopFinder: finds stop strings in a text that arrives in pieces, and holds back what may yet become one. The result
// does not depend on where the pieces are cut: the stop string that is complete first wins, of those the one that began
// first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace candor {

class StopFinder {
 public:
  explicit StopFinder(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // Takes the next piece (whole UTF-8 characters) and returns the text that is certainly not part of a stop string.
  // Once found() is true, that is all the text before the stop string, and nothing more may be pushed.
  std::string Push(std::string_view piece);
  // The end of the text: what was held back.
  std::string Flush();

  bool found() const { return !stop_.empty(); }
  const std::string& stop() const { return stop_; }

 private:
  bool FindCompleted(size_t& begin);
  size_t HeldBack() const;
  std::vector<std::string> stops_;
  std::string pending_;
  std::string stop_;
};

}  // namespace candor
