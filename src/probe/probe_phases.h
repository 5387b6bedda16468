// The phases of a probe, in order: one table that the child runs through and the parent waits along. The phase that a
// child was in when it crashed or hung is the one after the last that it reported.
#pragma once

#include <chrono>
#include <string_view>

namespace candor {

struct ProbePhase {
  std::string_view name;
  std::chrono::seconds deadline;
  bool listing;  // run also when only the devices are listed
};

// Deadlines leave room for a slow machine and a cold driver: the first CUDA context on a machine of eight GPUs takes 20
// s.
inline constexpr ProbePhase kProbePhases[] = {
    {"loader", std::chrono::seconds(15), true},     // the library is opened
    {"enumerate", std::chrono::seconds(45), true},  // the driver starts and says which devices it has
    {"device", std::chrono::seconds(60), false},    // one of them is opened
    {"allocate", std::chrono::seconds(45), false},  // bytes go to its memory and come back
    {"compile", std::chrono::seconds(120), false},  // the driver makes kernels ready
    {"compute", std::chrono::seconds(60), false},   // they run, and their numbers are compared
    {"destroy", std::chrono::seconds(15), true},    // everything is given back
};

}  // namespace candor
