#include "cli/suggest.h"

#include <algorithm>
#include <numeric>

namespace candor::cli {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string ClosestWord(std::string_view typed, const std::vector<std::string>& words) {
  std::string best;
  size_t best_distance = 0;
  for (const std::string& word : words) {
    const size_t longer = std::max(typed.size(), word.size());
    size_t distance = EditDistance(typed, word);
    if (typed.size() >= 3 && std::string_view(word).starts_with(typed)) distance = std::min<size_t>(distance, 1);
    if (distance * 3 > longer) continue;
    if (best.empty() || distance < best_distance) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace candor::cli
