#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/usage.h"

namespace candor::cli {
namespace {

struct Command {
  const char* name;
  const char* summary;
  CommandBody (*add)(CLI::App& app);
};

constexpr Command kCommands[] = {
    {"run", "Answer a prompt, or chat in a terminal", AddRunCommand},
    {"bench", "Measure prefill and decode speed", AddBenchCommand},
    {"inspect", "Show a model file: metadata, tensors, memory it will need", AddInspectCommand},
    {"tokenize", "Turn text into token ids", AddTokenizeCommand},
    {"logits", "Write the logits of a prompt to a file", AddLogitsCommand},
    {"perplexity", "Measure how well a model predicts a text", AddPerplexityCommand},
    {"devices", "List what models can run on", AddDevicesCommand},
};

constexpr const char* kExamples =
    "Examples:\n"
    "  candor run -m model.gguf                        chat\n"
    "  candor run -m model.gguf -p \"Why is the sky blue?\"\n"
    "  candor bench -m model.gguf -p 512 -n 128 -t 1,2\n"
    "  candor inspect -m model.gguf --memory\n"
    "  candor COMMAND --help                           flags and examples of a command\n\n";

struct Parser {
  CLI::App app{"Candor: runs language models on this machine, and says where and how it ran."};
  std::vector<CommandBody> bodies;  // in the order of kCommands
};

void AddCommands(Parser& parser) {
  parser.app.name("candor");
  parser.app.set_version_flag("--version", "candor " CANDOR_VERSION);
  parser.app.footer(std::string(kExamples) + kExitCodeHelp);
  parser.app.require_subcommand(0, 1);
  parser.app.allow_extras();
  for (const Command& command : kCommands) {
    CLI::App* sub = parser.app.add_subcommand(command.name, command.summary);
    sub->allow_extras();
    parser.bodies.push_back(command.add(*sub));
    sub->footer(sub->get_footer() + "\n" + kExitCodeHelp);
  }
}

// `first` is the word after the program's name, where the command stands.
Outcome RunSelected(Parser& parser, const std::string& first, std::string& who) {
  const std::vector<CLI::App*> selected = parser.app.get_subcommands();
  if (selected.empty() || selected.front()->get_name() != first) {
    if (parser.app.remaining_size(true) > 0) return UnknownCommand(parser.app, first);
    WriteStderr(parser.app.help());
    return UsageError("expected a command, got none");
  }
  const std::string name = selected.front()->get_name();
  who = "candor " + name;
  const std::vector<std::string> unknown = parser.app.remaining(true);
  if (!unknown.empty()) return UnknownArgument(parser.app, *selected.front(), unknown.front());
  const auto command =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& row) { return row.name == name; });
  return parser.bodies[static_cast<size_t>(command - std::begin(kCommands))]();
}

// --help and --version end the parsing by an exception that carries no error.
Outcome ParseAndRun(Parser& parser, int argc, const char* const* argv, std::string& who) {
  try {
    parser.app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    const bool is_version = dynamic_cast<const CLI::CallForVersion*>(&success) != nullptr;
    const Status written = WriteStdout(is_version ? std::string(success.what()) + "\n" : parser.app.help());
    return StreamFailure(written);
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> selected = parser.app.get_subcommands();
    if (selected.empty()) return BadValue(parser.app, error);
    who = "candor " + selected.front()->get_name();
    return BadValue(*selected.front(), error);
  }
  return RunSelected(parser, argc > 1 ? argv[1] : "", who);
}

}  // namespace

int Main(int argc, const char* const* argv) {
  std::string who = "candor";
  Outcome outcome;
  try {
    PrepareProcess();
    Parser parser;
    AddCommands(parser);
    outcome = ParseAndRun(parser, argc, argv, who);
  } catch (const std::bad_alloc&) {
    outcome = {ExitCode::kMemory, "out of memory; use a smaller model or context"};
  } catch (const std::exception& error) {
    outcome = {ExitCode::kInternal, fmt::format("internal error: {}; please report it", error.what())};
  }
  if (!outcome.message.empty()) WriteStderr(EscapeControls(who + ": " + outcome.message) + "\n");
  return static_cast<int>(outcome.code);
}

}  // namespace candor::cli
