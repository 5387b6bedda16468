#include "cli/usage.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/printable.h"
#include "cli/suggest.h"

namespace candor::cli {
namespace {

// The flags as a user types them: "-m", "--model".
std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// The commands that have exactly this flag: "candor run", "candor bench".
std::vector<std::string> CommandsWith(const CLI::App& app, const std::string& flag) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const std::vector<std::string> names = FlagNames(*command);
    if (std::find(names.begin(), names.end(), flag) != names.end()) commands.push_back("candor " + command->get_name());
  }
  return commands;
}

std::string DidYouMean(const std::string& typed, const std::vector<std::string>& words) {
  const std::string closest = ClosestWord(typed, words);
  return closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest);
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Without its value: "--temp" of "--temp=0", "-n" of "-n5".
std::string FlagOf(const std::string& argument) {
  if (argument.starts_with("--")) return argument.substr(0, argument.find('='));
  return argument.substr(0, 2);
}

}  // namespace

Outcome UnknownCommand(const CLI::App& app, const std::string& argument) {
  if (argument.starts_with('-')) {
    const std::string flag = FlagOf(argument);
    const std::vector<std::string> commands = CommandsWith(app, flag);
    if (!commands.empty()) {
      return UsageError("expected a command before '{}', got none; flags follow it: {} {} (see candor --help)", flag,
                        commands.front(), flag);
    }
    return UsageError("unknown flag '{}'{} (see candor --help)", Printable(flag), DidYouMean(flag, FlagNames(app)));
  }
  const std::string name = LowerCase(argument);
  const std::string hint =
      name == "help" ? "; candor --help and candor COMMAND --help say more" : DidYouMean(name, CommandNames(app));
  return UsageError("unknown command '{}'{} (see candor --help)", Printable(argument), hint);
}

Outcome UnknownArgument(const CLI::App& app, const CLI::App& command, const std::string& argument) {
  if (!argument.starts_with('-') || argument == "-") {
    return UsageError(
        "unexpected argument '{}'; values follow their flag, and text with blanks needs quotes (see --help)",
        Printable(argument));
  }
  const std::string flag = FlagOf(argument);
  const std::vector<std::string> others = CommandsWith(app, flag);
  if (!others.empty()) return UsageError("unknown flag '{}'; {} has it (see --help)", flag, fmt::join(others, " or "));
  return UsageError("unknown flag '{}'{} (see --help)", Printable(flag), DidYouMean(flag, FlagNames(command)));
}

// Everything but a missing value and a value too much is a sentence of ours (flags.cc). The parser's begins with the
// flag's name, once with and once without its dashes.
Outcome BadValue(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return UsageError("{} (see --help)", text);
  const std::string name = text.substr(0, text.find_first_of(": "));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) return UsageError("--{}: expected no value, got one (see --help)", name);
  return UsageError("{}: expected a value ({}), got none (see --help)", name, option->get_type_name());
}

}  // namespace candor::cli
