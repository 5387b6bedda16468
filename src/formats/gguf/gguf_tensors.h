// The tensor directory of a GGUF header.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "formats/gguf/gguf_cursor.h"
#include "formats/model_file.h"

namespace candor {

// Reads `count` entries and places them: offsets become absolute (the data begins at the next multiple of `alignment`,
// a power of two). Every tensor lies inside the file, aligned, and shares no byte with another. Names may still occur
// twice: the caller sees all parts of a split model and checks that. DataLoss; Unimplemented for a tensor type that
// Candor does not know (named with its tensor).
Result<std::vector<TensorInfo>> ReadTensors(GgufCursor& cursor, uint64_t count, uint64_t alignment);

}  // namespace candor
