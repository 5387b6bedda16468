// Chat: the conversation in a terminal, line by line, with history in one sequence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/load_model.h"
#include "cli/reply_report.h"
#include "cli/run_flags.h"

namespace candor::cli {

class Chat {
 public:
  Chat(const RunFlags& flags, LoadedModel& loaded, const SamplerOptions& sampling);

  // Reads lines until /exit or the end of input; Cancelled when Ctrl-C came at the prompt. Without a chat template, or
  // with --raw, each line is continued on its own.
  Outcome Run();

 private:
  void Greet() const;
  Outcome Turn(const std::string& line, bool& over);
  void Command(const std::string& line, bool& over);
  void SetSystem(const std::string& text);
  void Clear();
  Outcome Reply(const std::string& text);
  Result<std::vector<TokenId>> Encode(const std::string& text);
  std::vector<TokenId> ReusePrefix(const std::vector<TokenId>& ids);
  Outcome Finish(const std::string& text, const Result<GenerateResult>& result);
  std::string ContextAdvice() const;

  const RunFlags& flags_;
  LoadedModel& loaded_;
  SamplerOptions sampling_;
  const bool completes_;  // no template: every line is a text to continue
  std::string system_;
  std::vector<ChatMessage> messages_;  // without the system message
  std::unique_ptr<Sequence> sequence_;
  std::string last_stats_;
};

}  // namespace candor::cli
