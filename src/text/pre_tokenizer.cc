#include "text/pre_tokenizer.h"

#include <cstring>

#include "text/rust_buffer.h"

namespace candor {

void PreTokenizer::Free::operator()(CandorTextSplitter* splitter) const { candor_text_splitter_free(splitter); }

Result<PreTokenizer> PreTokenizer::ByName(std::string_view name) {
  std::string known;
  for (const PreTokenizerRule& rule : PreTokenizerRules()) {
    if (rule.name == name) {
      std::vector<CandorTextSlice> patterns;
      for (const std::string_view pattern : rule.patterns) patterns.push_back(RustSlice(pattern));
      RustBuffer error;
      PreTokenizer made;
      made.rule_ = rule;
      made.splitter_.reset(candor_text_splitter_new(patterns.data(), patterns.size(), error.out()));
      if (made.splitter_ == nullptr) return InternalError("pre-tokenizer {}: {}", name, error.view());
      return made;
    }
    known.append(known.empty() ? "" : ", ").append(rule.name);
  }
  return UnimplementedError(
      "tokenizer.ggml.pre: expected one of {}, got '{}'; this model's text would be cut into wrong tokens", known,
      name);
}

Result<std::vector<uint32_t>> PreTokenizer::Split(std::string_view text) const {
  RustBuffer output;
  if (candor_text_splitter_split(splitter_.get(), RustSlice(text), output.out()) == 0) {
    return InternalError("pre-tokenizer {}: {}", rule_.name, output.view());
  }
  std::vector<uint32_t> ends(output.size() / sizeof(uint32_t));
  if (!ends.empty()) std::memcpy(ends.data(), output.data(), ends.size() * sizeof(uint32_t));
  return ends;
}

}  // namespace candor
