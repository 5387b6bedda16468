// Models split over several GGUF files: <prefix>-00001-of-00003.gguf, opened through the first.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "formats/gguf/gguf_metadata.h"

namespace candor {

// The keys split.no, split.count and split.tensors.count of one file.
struct GgufSplit {
  uint64_t number = 0;   // from 0
  uint64_t count = 1;    // 1: not split
  uint64_t tensors = 0;  // in all files together; only meaningful when split
};

// DataLoss when the keys contradict each other or are no unsigned integers.
Result<GgufSplit> ReadSplit(const Metadata& metadata);

// "dir/m-00001-of-00003.gguf", part 1 of 0..2 -> "dir/m-00002-of-00003.gguf". `first_path` must be named as the first
// of `count` (InvalidArgument).
Result<std::string> SplitPath(const std::string& first_path, uint64_t number, uint64_t count);

}  // namespace candor
