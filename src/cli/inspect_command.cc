#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/inspect.h"
#include "cli/load_model.h"
#include "graph/plan.h"

namespace candor::cli {
namespace {

struct InspectFlags {
  std::string model;
  LoadOptions load;
  InspectSections sections;
  bool plan = false;
  bool json = false;
};

// A plan needs the model's graph, which only a loaded model has.
Outcome PrintPlan(const InspectFlags& flags) {
  LoadedModel loaded;
  CANDOR_CLI_RETURN_IF_FAILED(LoadEngine(flags.model, flags.load, loaded));
  const std::string text = MakePlan(loaded.model->graph(), loaded.engine->max_rows()).ToText();
  return flags.json ? PrintJson({{"plan", SplitLines(text)}}) : PrintText(text);
}

Outcome Inspect(InspectFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(flags.model));
  if (flags.plan) return PrintPlan(flags);
  const auto file = OpenModelFile(flags.model);
  if (!file.ok()) return LoadFailure(file.status());
  InspectSections& sections = flags.sections;
  if (!sections.metadata && !sections.tensors && !sections.memory)
    sections.metadata = sections.tensors = sections.memory = true;
  const auto memory = EstimateMemory(**file, flags.load);
  if (!memory.ok() && memory.status().code() == StatusCode::kUnavailable)
    return {ExitCode::kDevice, memory.status().message()};
  return flags.json ? PrintJson(InspectToJson(**file, memory, sections))
                    : PrintText(InspectToText(**file, memory, sections));
}

}  // namespace

CommandBody AddInspectCommand(CLI::App& app) {
  auto flags = std::make_shared<InspectFlags>();
  AddModel(app, flags->model);
  app.add_flag("--metadata", flags->sections.metadata, "Metadata alone");
  app.add_flag("--tensors", flags->sections.tensors, "Tensors alone");
  app.add_flag("--memory", flags->sections.memory, "The memory that running it will need, alone; nothing is loaded");
  app.add_flag("--full", flags->sections.full_arrays, "Long metadata arrays in full");
  app.add_flag("--plan", flags->plan, "The fused steps of the model, one a line (loads it)");
  AddDevice(app, flags->load);
  AddContext(app, flags->load);
  AddThreads(app, flags->load);
  AddKernelFlags(app, flags->load);
  AddJson(app, flags->json);
  app.footer(
      "Without a selection: metadata, tensors and memory.\n\n"
      "Examples:\n"
      "  candor inspect -m model.gguf\n"
      "  candor inspect -m model.gguf --memory -c 8192 --kv-type f16\n"
      "  candor inspect -m model.gguf --tensors --json\n");
  return [flags] { return Inspect(*flags); };
}

}  // namespace candor::cli
