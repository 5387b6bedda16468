#include "probe/probe_runner.h"

#include <unistd.h>

#include <filesystem>

#include "base/printable.h"
#include "platform/child_process.h"
#include "platform/dynamic_library.h"
#include "probe/device_json.h"
#include "probe/probe_phases.h"

namespace candor {
namespace {

using Clock = ChildProcess::Clock;
using State = ProbeVerdict::State;

Clock::time_point DeadlineOf(const ProbeSettings& settings, const ProbePhase& phase) {
  return Clock::now() + settings.deadline.value_or(phase.deadline);
}

ProbeVerdict Failed(std::string_view phase, std::string message) {
  return {State::kFailed, std::string(phase), std::move(message), false};
}

// The last line that the child wrote to stderr, for the message.
std::string LastWords(const std::string& error_output) {
  std::string_view text = error_output;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const size_t newline = text.rfind('\n');
  if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
  return text.empty() ? "" : fmt::format("; its last words: {}", Printable(text, 200));
}

// The child went away, or was sent away, in `phase`.
ProbeVerdict Died(std::string_view api, std::string_view phase, const ChildEnd& end) {
  if (end.how == ChildEnd::How::kDeadline) {
    return {State::kHung, std::string(phase),
            fmt::format("the {} driver hung in the phase {} and was ended{}", api, phase, LastWords(end.error_output)),
            false};
  }
  return {State::kCrashed, std::string(phase),
          fmt::format("the {} driver crashed in the phase {}: its process {}{}", api, phase, end.Describe(),
                      LastWords(end.error_output)),
          false};
}

StatusCode CodeNamed(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kInternal); ++code) {
    if (name == StatusCodeName(static_cast<StatusCode>(code))) return static_cast<StatusCode>(code);
  }
  return StatusCode::kInternal;
}

// Takes a phase's line into the result. False ends the probe, with the verdict set.
bool TakeLine(const Json& line, std::string_view phase, ProbeResult& result) {
  if (TextAt(line, "phase") != phase || !line.contains("ok") || !line["ok"].is_boolean()) {
    result.verdict =
        Failed(phase, fmt::format("candor-probe: expected a report of the phase {}, got another text", phase));
    return false;
  }
  result.library = TextAt(line, "library").value_or(result.library);
  if (const auto available = NumberAt(line, "memory_available")) result.memory_available = *available;
  if (!line["ok"].get<bool>()) {
    result.code = CodeNamed(TextAt(line, "code").value_or(""));
    result.verdict = Failed(phase, TextAt(line, "message").value_or("it did not say why"));
    return false;
  }
  if (!line.contains("devices") || !line["devices"].is_array()) return true;
  for (const Json& row : line["devices"]) {
    auto device = DeviceFromJson(row);
    if (!device.ok()) {
      result.verdict = Failed(phase, device.status().message());
      return false;
    }
    result.devices.push_back(std::move(*device));
  }
  return true;
}

class ProbeSession {
 public:
  ProbeSession(const ProbeSettings& settings, std::string_view api, bool listing)
      : settings_(settings), api_(api), listing_(listing) {}

  ProbeResult Run(std::vector<std::string> arguments) {
    auto child = ChildProcess::Start({settings_.program, std::move(arguments), settings_.variables});
    if (!child.ok()) {
      result_.code = child.status().code();
      result_.verdict = Failed("start", child.status().message());
      return std::move(result_);
    }
    if (!Greet(*child)) return std::move(result_);
    for (const ProbePhase& phase : kProbePhases) {
      if (listing_ && !phase.listing) continue;
      if (!Follow(*child, phase)) return std::move(result_);
    }
    // All is reported; what it still does on its way out (destructors of the driver) counts as the last phase.
    const ProbePhase& last = kProbePhases[std::size(kProbePhases) - 1];
    const ChildEnd end = child->Finish(DeadlineOf(settings_, last));
    const bool clean = end.how == ChildEnd::How::kUnknown || (end.how == ChildEnd::How::kExited && end.exit_code == 0);
    result_.verdict = clean ? ProbeVerdict{State::kPassed, "", "", false} : Died(api_, last.name, end);
    return std::move(result_);
  }

 private:
  // The first line says which version it is: a stale program beside a new library must not be believed.
  bool Greet(ChildProcess& child) {
    std::string line;
    const auto read = child.ReadLine(line, DeadlineOf(settings_, kProbePhases[0]));
    const std::optional<std::string> version =
        read == ChildProcess::ReadResult::kLine ? TextAt(ParseJson(line), "candor_probe") : std::nullopt;
    if (version == CANDOR_VERSION) return true;
    result_.code = StatusCode::kFailedPrecondition;
    result_.verdict =
        Failed("start", fmt::format("{}: expected the candor-probe of version {}, got {}; install Candor again",
                                    settings_.program, CANDOR_VERSION,
                                    version ? Printable(*version) : "a program that does not answer"));
    return false;
  }

  bool Follow(ChildProcess& child, const ProbePhase& phase) {
    std::string line;
    const auto read = child.ReadLine(line, DeadlineOf(settings_, phase));
    if (read == ChildProcess::ReadResult::kLine) return TakeLine(ParseJson(line), phase.name, result_);
    if (read == ChildProcess::ReadResult::kTooLong) {
      result_.verdict = Failed(phase.name, "candor-probe: expected a short report, got an endless line");
      return false;
    }
    // Its end may be a moment away after it closed stdout; a hanging one has had its time.
    const auto patience = read == ChildProcess::ReadResult::kEnd ? DeadlineOf(settings_, phase) : Clock::now();
    result_.verdict = Died(api_, phase.name, child.Finish(patience));
    return false;
  }

  const ProbeSettings& settings_;
  std::string_view api_;
  bool listing_;
  ProbeResult result_;
};

}  // namespace

Result<std::string> FindProbeProgram() {
  const std::string folder = FolderOfThisModule();
  for (const char* place : {"/candor-probe", "/../libexec/candor/candor-probe"}) {
    const std::string path = folder + place;
    std::error_code error;
    if (access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, error)) return path;
  }
  return NotFoundError(
      "candor-probe: expected this program in {} or {}/../libexec/candor, got none; install Candor again", folder,
      folder);
}

ProbeResult ListWithProbe(const ProbeSettings& settings, DeviceKind kind) {
  const std::string_view api = DeviceKindName(kind);
  return ProbeSession(settings, api, true).Run({std::string(api)});
}

ProbeResult TryWithProbe(const ProbeSettings& settings, const DeviceInfo& device) {
  const std::string_view api = DeviceKindName(device.kind);
  const std::string adapter =
      device.gpu.uuid.empty() ? std::to_string(device.index) : fmt::format("{}:{}", device.index, device.gpu.uuid);
  std::vector<std::string> arguments = {std::string(api), "--adapter", adapter};
  if (!settings.self_test) arguments.emplace_back("--no-self-test");
  return ProbeSession(settings, api, false).Run(std::move(arguments));
}

std::string LibraryError(const ProbeSettings& settings, const std::string& path) {
  auto child = ChildProcess::Start({settings.program, {"library", path}, settings.variables});
  if (!child.ok()) return child.status().message();
  const auto deadline = DeadlineOf(settings, kProbePhases[0]);
  std::string line;
  if (child->ReadLine(line, deadline) != ChildProcess::ReadResult::kLine) {
    return fmt::format("{}: opening it ended the process, which {}", path, child->Finish(deadline).Describe());
  }
  const ChildEnd end = child->Finish(deadline);
  const Json answer = ParseJson(line);
  const std::string message = TextAt(answer, "message").value_or("");
  if (!message.empty() || end.how == ChildEnd::How::kUnknown ||
      (end.how == ChildEnd::How::kExited && end.exit_code == 0))
    return message;
  return fmt::format("{}: closing it ended the process, which {}", path, end.Describe());
}

}  // namespace candor
