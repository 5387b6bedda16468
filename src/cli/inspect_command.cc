#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/inspect.h"
#include "cli/load_model.h"

namespace candor::cli {
namespace {

struct InspectFlags {
  std::string model;
  LoadOptions load;
  InspectSections sections;
  bool plan = false;
  bool json = false;
};

Outcome PrintPlan(const InspectFlags& flags, const ModelFile& file) {
  const auto plan = PlanOf(file, flags.load);
  if (!plan.ok()) return LoadFailure(plan.status());
  const std::string text = plan->ToText();
  return flags.json ? PrintJson({{"plan", SplitLines(text)}}) : PrintText(text);
}

Outcome Inspect(InspectFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(flags.model));
  InspectSections& sections = flags.sections;
  if (flags.plan && (sections.metadata || sections.tensors || sections.memory || sections.full_arrays))
    return UsageError("--plan: expected it alone, got a selection of other parts beside it; ask for them apart");
  const auto file = OpenModelFile(flags.model);
  if (!file.ok()) return LoadFailure(file.status());
  if (flags.plan) return PrintPlan(flags, **file);
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
  AddFlag(app, "--metadata", flags->sections.metadata, "Metadata alone");
  AddFlag(app, "--tensors", flags->sections.tensors, "Tensors alone");
  AddFlag(app, "--memory", flags->sections.memory, "The memory that running it will need, alone; nothing is loaded");
  AddFlag(app, "--full", flags->sections.full_arrays, "Long metadata arrays in full");
  AddFlag(app, "--plan", flags->plan, "The fused steps of the model, one a line; nothing is loaded");
  AddLoadFlags(app, flags->load);
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
