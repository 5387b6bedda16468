// SpecialTokens: cuts a text at the tokens that are matched whole, before any splitting or merging. The longest token
// is cut out first, everywhere, then the next longest (llama.cpp's rule). User-defined tokens always match; control
// tokens only in markup.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace candor {

struct TextRange {
  size_t begin = 0;
  size_t end = 0;
};

struct Fragment {
  std::string_view text;
  TokenId token = -1;  // -1: text that is yet to be encoded
};

class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);  // the vocabulary must outlive it

  // `markup`: ascending, disjoint ranges in which control tokens match. A control token matches only inside one range.
  std::vector<Fragment> Partition(std::string_view text, std::span<const TextRange> markup) const;

 private:
  struct Candidate {
    uint32_t position;
    uint32_t longest;  // the longest match that starts here
  };
  struct Match {
    size_t begin;
    size_t size;
    TokenId token;
  };
  TokenId MatchAt(std::string_view text, size_t position, size_t size, std::span<const TextRange> markup) const;
  std::span<const uint32_t> LengthsAt(std::string_view text, size_t position) const;
  std::vector<Candidate> FindCandidates(std::string_view text, std::span<const TextRange> markup,
                                        std::vector<uint32_t>& lengths) const;

  const Vocabulary& vocabulary_;
  // The lengths of special tokens that start with two given bytes, descending (a token of one byte is under every
  // second byte).
  std::bitset<65536> starts_;
  std::unordered_map<uint16_t, std::vector<uint32_t>> lengths_;
};

}  // namespace candor
