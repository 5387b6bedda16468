// The manifests of Vulkan drivers, found and read as the Vulkan loader does (its LoaderDriverInterface document).
// Private to src/probe.
#pragma once

#include "probe/driver_facts.h"

namespace candor {

// Fills override_variable, override_gone, searched and manifests.
void FindVulkanManifests(const FactSources& sources, const std::vector<std::string>& library_folders,
                         DriverFacts& facts);

}  // namespace candor
