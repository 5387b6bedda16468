// ChatTemplate: messages to a prompt, by the Jinja template inside the model file (minijinja with the functions that
// Hugging Face templates use). Thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace candor {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", …
  std::string content;
};

struct ChatRenderOptions {
  bool add_generation_prompt = true;
  std::string extra_json;  // an object of further template variables (enable_thinking, tools, …); empty: none
  std::optional<int64_t> clock_seconds;  // seconds since 1970 for strftime_now, printed as local time; empty: the clock
};

class ChatTemplate {
 public:
  // NotFound when the file has no template (a base model). InvalidArgument with the template engine's message when it
  // does not compile.
  static Result<std::unique_ptr<const ChatTemplate>> Load(std::shared_ptr<const ModelFile> file,
                                                          const Tokenizer& tokenizer);
  static Result<std::unique_ptr<const ChatTemplate>> FromSource(const std::string& source, const Tokenizer& tokenizer);
  ~ChatTemplate();

  // Text that came from a message and looks like a control token stays text; the template's own markers are markup.
  // InvalidArgument carries what the template raised (raise_exception), or that it ran too long. Invalid UTF-8 in a
  // message is U+FFFD.
  Result<std::vector<TextSegment>> Render(const std::vector<ChatMessage>& messages,
                                          const ChatRenderOptions& options) const;
  const std::string& source() const;

 private:
  ChatTemplate();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace candor
