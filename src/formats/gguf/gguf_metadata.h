// The metadata section of a GGUF header: keys with typed values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/gguf/gguf_cursor.h"
#include "formats/model_file.h"

namespace candor {

using Metadata = std::vector<std::pair<std::string, MetadataValue>>;

// Reads `count` entries. Arrays of strings point into the header's bytes. DataLoss: cut short, an impossible length, an
// unknown type, a key that occurs twice or is no text. Unimplemented: an array of arrays.
Result<Metadata> ReadMetadata(GgufCursor& cursor, uint64_t count);

// nullptr when the key is absent. Linear: for the few keys a reader itself needs.
const MetadataValue* FindIn(const Metadata& metadata, std::string_view key);

}  // namespace candor
