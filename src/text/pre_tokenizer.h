// PreTokenizer: the regular expressions by which a byte-level BPE tokenizer cuts a text into words before it merges
// bytes, by the name in tokenizer.ggml.pre. Const; thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"

struct CandorTextSplitter;

namespace candor {

struct PreTokenizerRule {
  std::string_view name;
  std::vector<std::string_view>
      patterns;                // each cuts the pieces that the one before left: matches and the gaps between them
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
  bool add_bos = false;        // its models begin every text with BOS unless the file says otherwise
};

class PreTokenizer {
 public:
  // Unimplemented, with the known names, for a name that is not in the table.
  static Result<PreTokenizer> ByName(std::string_view name);

  const PreTokenizerRule& rule() const { return rule_; }

  // End offsets of the words of `text`, which must be UTF-8.
  Result<std::vector<uint32_t>> Split(std::string_view text) const;

 private:
  struct Free {
    void operator()(CandorTextSplitter* splitter) const;
  };
  PreTokenizerRule rule_;
  std::unique_ptr<CandorTextSplitter, Free> splitter_;
};

// Every known rule.
const std::vector<PreTokenizerRule>& PreTokenizerRules();

}  // namespace candor
