#include "text/tokenizer.h"

#include "text/bpe_tokenizer.h"
#include "text/detokenizer.h"
#include "text/spm_tokenizer.h"

namespace candor {

Result<std::unique_ptr<const Tokenizer>> Tokenizer::Load(std::shared_ptr<const ModelFile> file) {
  constexpr std::string_view kModelKey = "tokenizer.ggml.model";
  CANDOR_ASSIGN_OR_RETURN(const std::string_view model, file->GetString(kModelKey));
  if (model != "gpt2" && model != "llama") {
    return UnimplementedError(
        "{}: expected gpt2 (byte-level BPE) or llama (SentencePiece BPE), got '{}'; use a model with one of these",
        kModelKey, model);
  }
  const bool is_bpe = model == "gpt2";
  CANDOR_ASSIGN_OR_RETURN(Vocabulary read, Vocabulary::Read(std::move(file)));
  auto vocabulary = std::make_unique<const Vocabulary>(std::move(read));
  return is_bpe ? BpeTokenizer::Load(std::move(vocabulary)) : SpmTokenizer::Load(std::move(vocabulary));
}

std::string Tokenizer::Decode(std::span<const TokenId> ids, bool render_special) const {
  Detokenizer detokenizer(*this, render_special);
  std::string text;
  for (const TokenId id : ids) text += detokenizer.Push(id);
  text += detokenizer.Flush();
  return text;
}

}  // namespace candor
