#include "base/clock.h"

namespace candor {

void PhaseTimer::Add(std::string_view phase, double milliseconds) {
  for (auto& [name, total] : phases_) {
    if (name == phase) {
      total += milliseconds;
      return;
    }
  }
  phases_.emplace_back(phase, milliseconds);
}

}  // namespace candor
