// One GGUF file's header: everything before the tensor data.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "formats/gguf/gguf_metadata.h"
#include "formats/model_file.h"
#include "platform/mapped_file.h"

namespace candor {

struct GgufHeader {
  uint32_t version = 0;
  Metadata metadata;                // arrays of strings point into `bytes`
  std::vector<TensorInfo> tensors;  // offsets absolute, file_index 0
  std::shared_ptr<const void> bytes;
};

// Errors begin with the file's path. InvalidArgument: no GGUF file. Unimplemented: version, big-endian file, tensor
// type. DataLoss: cut short or contradictory. ResourceExhausted: a header larger than any real one.
Result<GgufHeader> ReadGgufHeader(const std::shared_ptr<const MappedFile>& file);

}  // namespace candor
