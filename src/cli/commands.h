// The commands. Each registers its flags on its own part of the parser and returns what to run once they are parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/exit_code.h"

namespace candor::cli {

using CommandBody = std::function<Outcome()>;

CommandBody AddRunCommand(CLI::App& app);
CommandBody AddBenchCommand(CLI::App& app);
CommandBody AddInspectCommand(CLI::App& app);
CommandBody AddTokenizeCommand(CLI::App& app);
CommandBody AddLogitsCommand(CLI::App& app);
CommandBody AddPerplexityCommand(CLI::App& app);
CommandBody AddDevicesCommand(CLI::App& app);

}  // namespace candor::cli
