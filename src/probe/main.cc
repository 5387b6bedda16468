// candor-probe: tries one GPU driver out and dies in the caller's place. Started by Candor itself, found beside it:
//   candor-probe vulkan|cuda                     lists the devices
//   candor-probe vulkan|cuda --adapter N[:UUID] [--no-self-test]  tries one of them, without running kernels
//   candor-probe library PATH                    opens a library
// Exit codes: 0 every phase was reported (a failed one too), 2 bad usage.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "probe/probe_child.h"

namespace candor {
namespace {

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count <= 0) return;  // nobody reads any more
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// Goes down with the caller, leaves no core file, and keeps stdout for itself: what a driver prints there goes to
// stderr.
int PrepareProcess() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return report;
}

std::optional<ProbeRequest> Parse(int argc, char** argv) {
  ProbeRequest request;
  const std::string_view api = argv[1];
  if (api != "vulkan" && api != "cuda") return std::nullopt;
  request.kind = api == "cuda" ? DeviceKind::kCuda : DeviceKind::kVulkan;
  if (argc == 2) return request;
  request.self_test = argc != 5 || std::string_view(argv[4]) != "--no-self-test";
  if (argc != (request.self_test ? 4 : 5) || std::string_view(argv[2]) != "--adapter") return std::nullopt;
  char* end = nullptr;
  request.listing = false;
  request.index = static_cast<int>(std::strtol(argv[3], &end, 10));
  if (end == argv[3] || (*end != '\0' && *end != ':')) return std::nullopt;
  if (*end == ':') request.uuid = end + 1;
  return request;
}

int Main(int argc, char** argv) {
  const int report = PrepareProcess();
  const auto write_line = [report](std::string_view line) { WriteAll(report, std::string(line) + "\n"); };
  if (argc == 3 && std::string_view(argv[1]) == "library") {
    RunLibraryCheck(argv[2], write_line);
    return 0;
  }
  const std::optional<ProbeRequest> request = argc >= 2 ? Parse(argc, argv) : std::nullopt;
  if (!request) {
    WriteAll(STDERR_FILENO,
             "candor-probe: usage: candor-probe vulkan|cuda [--adapter N[:UUID] [--no-self-test]] | library PATH; it "
             "is started by "
             "Candor, see "
             "`candor devices`\n");
    return 2;
  }
  RunProbePhases(*request, write_line);
  return 0;
}

}  // namespace
}  // namespace candor

int main(int argc, char** argv) { return candor::Main(argc, argv); }
