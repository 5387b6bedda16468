#include "cli/load_model.h"

#include "cli/choose_device.h"
#include "cli/terminal.h"

namespace candor::cli {
namespace {

// The runtime says InvalidArgument of a context beyond the trained one and of a broken file alike; a file that is fine
// without the asked-for context tells the two apart.
bool ContextIsToBlame(const std::string& path, const LoadOptions& options) {
  if (options.context == 0) return false;
  const auto file = OpenModelFile(path);
  LoadOptions default_context = options;
  default_context.context = 0;
  return file.ok() && EstimateMemory(**file, default_context).ok();
}

Outcome ModelFailure(const Status& status, const std::string& path, const LoadOptions& options) {
  if (status.code() == StatusCode::kInvalidArgument && ContextIsToBlame(path, options))
    return {ExitCode::kUsage, status.message()};
  return LoadFailure(status);
}

}  // namespace

void LoadedModel::TearDown() {
  const ScopedPhase phase(&phases, "teardown");
  engine.reset();
  model.reset();
}

Outcome RequireModel(const std::string& path) {
  if (!path.empty()) return {};
  return UsageError("-m/--model: expected a model file, got none; give one with -m FILE");
}

Outcome ProbeDevice(LoadOptions& options) {
  if (options.chosen_device.has_value()) return {};
  auto device = ChooseForRun(options.device, options.allow_software_adapter);
  if (!device.ok()) {
    const bool usage = device.status().code() == StatusCode::kInvalidArgument;
    return {usage ? ExitCode::kUsage : ExitCode::kDevice, device.status().message()};
  }
  if (options.cpu_isa && !CpuSupports(*options.cpu_isa)) {
    return {ExitCode::kDevice,
            fmt::format("--cpu-isa: expected one that runs on this processor ({}), got '{}'; the best it has is '{}'",
                        CpuModelName(), CpuIsaName(*options.cpu_isa), CpuIsaName(BestCpuIsa()))};
  }
  options.chosen_device = std::move(*device);
  return {};
}

Outcome LoadEngine(const std::string& path, LoadOptions options, LoadedModel& loaded) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(path));
  {
    const ScopedPhase phase(&loaded.phases, "probe");
    CANDOR_CLI_RETURN_IF_FAILED(ProbeDevice(options));
  }
  ProgressLine progress("loading the model");
  options.progress = [&progress](uint64_t done, uint64_t total) {
    progress.Update(done, total);
    return !Interrupted();
  };
  auto model = Model::Load(path, options, &loaded.phases);
  if (!model.ok()) return ModelFailure(model.status(), path, options);
  loaded.model = std::move(*model);
  auto engine = Engine::Create(loaded.model, &loaded.phases);
  if (!engine.ok()) return LoadFailure(engine.status());
  loaded.engine = std::move(*engine);
  return {};
}

}  // namespace candor::cli
