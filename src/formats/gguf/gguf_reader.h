// Reads a GGUF model, all its parts, into a ModelFile.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "formats/model_file.h"
#include "platform/mapped_file.h"

namespace candor {

// How the further parts of a split model are opened; MappedFile::Open but in tests.
using PartOpener = std::function<Result<std::shared_ptr<const MappedFile>>(const std::string& path)>;

// `first` is the file, or the first of a split model. Metadata is the first file's. Errors as OpenModelFile; besides,
// NotFound for a missing part and InvalidArgument when `first` is not the first.
Result<std::shared_ptr<const ModelFile>> OpenGguf(const std::shared_ptr<const MappedFile>& first,
                                                  const PartOpener& open_part);

}  // namespace candor
