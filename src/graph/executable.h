// Executable: a plan made ready for one device. The engine fills StepInputs and runs it; nothing is allocated or
// recorded in a step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace candor {

// Everything that changes from step to step. Arrays have `rows` entries unless said otherwise and stay valid during the
// run.
struct StepInputs {
  int64_t rows = 0;
  const int32_t* token_ids = nullptr;
  const int32_t* positions = nullptr;
  const int32_t* sequences = nullptr;                     // sequence slot of each row
  std::byte* const* const* const* page_tables = nullptr;  // [KV group][sequence slot] -> pages
  int64_t logits_rows = 0;
  const int32_t* logits_index = nullptr;  // [logits_rows]: which rows
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Runs one step. rows <= the plan's max_rows.
  virtual Status Run(const StepInputs& inputs) = 0;
  // [logits_rows, vocabulary] of the last run.
  virtual const float* logits() const = 0;
};

}  // namespace candor
