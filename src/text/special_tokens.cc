#include "text/special_tokens.h"

#include <algorithm>
#include <functional>

namespace candor {
namespace {

uint16_t StartKey(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  return static_cast<uint16_t>(byte(position) << 8 | byte(position + 1));
}

bool InOneRange(std::span<const TextRange> ranges, size_t begin, size_t end) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), begin,
                                      [](size_t value, const TextRange& range) { return value < range.begin; });
  return after != ranges.begin() && end <= std::prev(after)->end;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  const auto add = [this](unsigned key, uint32_t length) {
    starts_.set(key);
    lengths_[static_cast<uint16_t>(key)].push_back(length);
  };
  for (const TokenId id : vocabulary.special_tokens()) {
    const std::string_view text = vocabulary.Text(id);
    if (text.size() > 1) {
      add(StartKey(text, 0), static_cast<uint32_t>(text.size()));
    } else {
      for (unsigned second = 0; second < 256; ++second) add(StartKey(text, 0) | second, 1);
    }
  }
  for (auto& [key, lengths] : lengths_) {
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  }
}

std::span<const uint32_t> SpecialTokens::LengthsAt(std::string_view text, size_t position) const {
  const uint16_t key = StartKey(text, position);
  if (!starts_.test(key)) return {};
  return lengths_.find(key)->second;
}

TokenId SpecialTokens::MatchAt(std::string_view text, size_t position, size_t size,
                               std::span<const TextRange> markup) const {
  if (position + size > text.size()) return -1;
  const TokenId id = vocabulary_.Find(text.substr(position, size));
  if (id < 0) return -1;
  if (vocabulary_.MatchesInText(id)) return id;
  const TokenKind kind = vocabulary_.Kind(id);
  if (kind != TokenKind::kControl && kind != TokenKind::kUnknown && kind != TokenKind::kUserDefined) return -1;
  return InOneRange(markup, position, position + size) ? id : -1;
}

std::vector<SpecialTokens::Candidate> SpecialTokens::FindCandidates(std::string_view text,
                                                                    std::span<const TextRange> markup,
                                                                    std::vector<uint32_t>& lengths) const {
  std::vector<Candidate> candidates;
  std::vector<bool> seen(vocabulary_.longest_text() + 1);
  for (size_t position = 0; position < text.size(); ++position) {
    bool first = true;
    for (const uint32_t length : LengthsAt(text, position)) {
      if (!first && seen[length]) continue;  // this length is in the list already, and the longest match is known
      if (MatchAt(text, position, length, markup) < 0) continue;
      if (first) candidates.push_back({static_cast<uint32_t>(position), length});
      first = false;
      if (!seen[length]) lengths.push_back(length);
      seen[length] = true;
    }
  }
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  return candidates;
}

std::vector<Fragment> SpecialTokens::Partition(std::string_view text, std::span<const TextRange> markup) const {
  std::vector<uint32_t> lengths;
  std::vector<Candidate> candidates = FindCandidates(text, markup, lengths);
  std::vector<bool> taken(candidates.empty() ? 0 : text.size());
  std::vector<Match> matches;
  for (const uint32_t length : lengths) {
    std::erase_if(candidates, [&](const Candidate& c) { return taken[c.position]; });
    for (const auto& [position, longest] : candidates) {
      if (longest < length || position + length > text.size() || taken[position] || taken[position + length - 1])
        continue;
      const auto begin = taken.begin() + position;
      if (std::find(begin, begin + length, true) != begin + length) continue;
      const TokenId token = MatchAt(text, position, length, markup);
      if (token < 0) continue;
      std::fill(begin, begin + length, true);
      matches.push_back({position, length, token});
    }
  }
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) { return a.begin < b.begin; });

  std::vector<Fragment> fragments;
  size_t position = 0;
  for (const Match& match : matches) {
    if (match.begin > position) fragments.push_back({text.substr(position, match.begin - position), -1});
    fragments.push_back({text.substr(match.begin, match.size), match.token});
    position = match.begin + match.size;
  }
  if (position < text.size()) fragments.push_back({text.substr(position), -1});
  return fragments;
}

}  // namespace candor
