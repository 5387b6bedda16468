// From a path and flags to an engine that is ready to run, with each phase timed and each failure given its exit code.
#pragma once

#include <memory>
#include <string>

#include "cli/exit_code.h"
#include "runtime/engine.h"

namespace candor::cli {

// Members are destroyed last to first: the engine before the model that it refers to.
struct LoadedModel {
  PhaseTimer phases;
  std::shared_ptr<const Model> model;
  std::unique_ptr<Engine> engine;

  // Frees the engine and the model; timed as the phase "teardown".
  void TearDown();
};

// Exit code 2 when no model file is named.
Outcome RequireModel(const std::string& path);
// Chooses the device, opens and loads the model, makes the engine. Phases: probe, open, verify, tokenizer, weights,
// compile. Ctrl-C cancels it. Progress on a terminal.
Outcome LoadEngine(const std::string& path, LoadOptions options, LoadedModel& loaded);
// The device alone, into options.chosen_device: 2 for a name that means nothing, 3 for a device or ISA that is not
// there. Does nothing where it is chosen already.
Outcome ProbeDevice(LoadOptions& options);

}  // namespace candor::cli
