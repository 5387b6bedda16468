// What `candor inspect` prints of a model file: as JSON and as text for a terminal.
#pragma once

#include <string>

#include "cli/json.h"
#include "formats/model_file.h"
#include "runtime/model.h"

namespace candor::cli {

struct InspectSections {
  bool metadata = false;
  bool tensors = false;
  bool memory = false;
  bool full_arrays = false;  // else an array of more than 8 values is cut, and says how long it is
};

// `memory` may be an error: then the file can be read but not run, and the text says why.
Json InspectToJson(const ModelFile& file, const Result<MemoryEstimate>& memory, const InspectSections& sections);
std::string InspectToText(const ModelFile& file, const Result<MemoryEstimate>& memory, const InspectSections& sections);

Json SplitLines(const std::string& text);

}  // namespace candor::cli
