// Rotary frequencies after a file's scaling: none, linear, yarn, or a table of divisors (rope_freqs.weight, llama 3).
// Sources: Su et al. 2021; Peng et al., "YaRN", 2023, section 3.
#pragma once

#include <vector>

#include "base/status.h"
#include "formats/model_file.h"
#include "graph/graph.h"
#include "models/model_config.h"

namespace candor {

// What the file's rope.scaling.* keys say.
struct RopeScaling {
  enum class Kind { kNone, kLinear, kYarn } kind = Kind::kNone;
  double factor = 1.0;
  double original_context = 0.0;
  double attention_factor = 1.0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
};

// Unimplemented names an unknown rope.scaling.type; DataLoss a factor that is not positive.
Result<RopeScaling> ReadRopeScaling(const ModelFile& file, const ModelConfig& config);

// `divisors`: n_rot / 2 entries, or empty.
RopeSpec MakeRopeSpec(int32_t n_rot, double base, const RopeScaling& scaling, const std::vector<float>& divisors,
                      RopePairing pairing);

}  // namespace candor
