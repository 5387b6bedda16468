// LogitsScan: one pass over a row of logits that finds what every sampler needs: the largest value, whether the row is
// healthy, and the maximum of each block of 64 values, by which the k largest are found without sorting the vocabulary.
// Reuses its storage; not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace candor {

class LogitsScan {
 public:
  static constexpr size_t kBlock = 64;

  // DataLoss when the row holds NaN or +infinity, or when all values are equal (rows of more than one value): a model
  // that cannot tell its tokens apart is broken, and the lowest id would be a silent lie.
  Status Scan(std::span<const float> logits);

  // The block that holds `index` has changed (bias, penalties).
  void Rescan(std::span<const float> logits, size_t index);

  float Max() const;
  // Lowest index of the largest value.
  size_t ArgMax(std::span<const float> logits) const;
  // Indices of the k largest values and of those equal to the k-th, in ascending order of index; all of them when k >=
  // size.
  void TopCandidates(std::span<const float> logits, size_t k, std::vector<int32_t>& indices);

 private:
  // A value that at least k values reach.
  float LowerBoundOfKthLargest(size_t size, size_t k);
  std::vector<float> block_max_;
  std::vector<float> scratch_;
};

}  // namespace candor
