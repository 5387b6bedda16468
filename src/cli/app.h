// The program behind `candor`: one table of commands, parsing with suggestions, and exit codes.
#pragma once

namespace candor::cli {

// Parses the arguments, runs the command, reports a failure as one sentence on stderr. Returns the process's exit code;
// never throws.
int Main(int argc, const char* const* argv);

}  // namespace candor::cli
