// "Did you mean": the closest of a list of words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace candor::cli {

// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other (optimal string
// alignment).
size_t EditDistance(std::string_view a, std::string_view b);

// The closest word, or "" when none is close: at most a third of the longer word may differ, or the word begins with
// what was typed.
std::string ClosestWord(std::string_view typed, const std::vector<std::string>& words);

}  // namespace candor::cli
