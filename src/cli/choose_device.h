// Choosing the device of a run: names that need a driver go through the probe, and nothing ends on the CPU unasked.
#pragma once

#include <string>

#include "device/device.h"

namespace candor::cli {

// Unavailable with what exists and what to do; InvalidArgument for a name that means nothing. `auto` and `cpu` start no
// probe while the engine has kernels for the CPU alone.
Result<ChosenDevice> ChooseForRun(const std::string& device, bool allow_software_adapter);

}  // namespace candor::cli
