// From text and messages to the token ids of a prompt.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/model.h"

namespace candor::cli {

// Does the file ask for a BOS in front of every text?
bool AddsBos(const Tokenizer& tokenizer);

// The conversation through the model's chat template, ready for the assistant's reply, with the file's BOS once.
// Precondition: the model has a template. InvalidArgument carries what the template raised.
Result<std::vector<TokenId>> EncodeChat(const Model& model, const std::vector<ChatMessage>& messages);

// Plain text, with BOS and EOS as the file says.
Result<std::vector<TokenId>> EncodeText(const Model& model, const std::string& text, bool parse_special);

}  // namespace candor::cli
