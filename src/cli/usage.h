// What the parser could not place, as one sentence that says what to do: unknown commands and flags, flags of another
// command, missing values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/exit_code.h"

namespace candor::cli {

// An argument in the place of a command. `app` is the whole program.
Outcome UnknownCommand(const CLI::App& app, const std::string& argument);

// An argument that no flag of the command took.
Outcome UnknownArgument(const CLI::App& app, const CLI::App& command, const std::string& argument);

// What the parser threw while it read the flags of `command`.
Outcome BadValue(const CLI::App& command, const CLI::ParseError& error);

}  // namespace candor::cli
