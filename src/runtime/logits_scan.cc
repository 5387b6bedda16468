#include "runtime/logits_scan.h"

#include <hwy/highway.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace candor {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct BlockStats {
  float max = -kInfinity;
  float min = kInfinity;
  bool nan = false;
};

// Min and Max of a NaN are no matter: NaN is looked for apart.
BlockStats ScanFullBlock(const float* values) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto max = hn::Set(d, -kInfinity);
  auto min = hn::Set(d, kInfinity);
  auto nan = hn::FirstN(d, 0);
  for (size_t i = 0; i < LogitsScan::kBlock; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    max = hn::Max(value, max);
    min = hn::Min(value, min);
    nan = hn::Or(nan, hn::IsNaN(value));
  }
  return {.max = hn::GetLane(hn::MaxOfLanes(d, max)),
          .min = hn::GetLane(hn::MinOfLanes(d, min)),
          .nan = !hn::AllFalse(d, nan)};
}

BlockStats ScanBlock(std::span<const float> values) {
  if (values.size() == LogitsScan::kBlock) return ScanFullBlock(values.data());
  BlockStats stats;
  for (const float value : values) {
    stats.max = std::max(stats.max, value);
    stats.min = std::min(stats.min, value);
    stats.nan |= value != value;
  }
  return stats;
}

std::span<const float> Block(std::span<const float> logits, size_t block) {
  const size_t first = block * LogitsScan::kBlock;
  return logits.subspan(first, std::min(LogitsScan::kBlock, logits.size() - first));
}

}  // namespace

Status LogitsScan::Scan(std::span<const float> logits) {
  const size_t blocks = (logits.size() + kBlock - 1) / kBlock;
  block_max_.resize(blocks);
  BlockStats all;
  for (size_t block = 0; block < blocks; ++block) {
    const BlockStats stats = ScanBlock(Block(logits, block));
    block_max_[block] = stats.max;
    all.max = std::max(all.max, stats.max);
    all.min = std::min(all.min, stats.min);
    all.nan |= stats.nan;
  }
  if (all.nan) return DataLossError("logits: expected numbers, got NaN; the model file or the computation is broken");
  if (all.max == kInfinity)
    return DataLossError("logits: expected finite numbers, got +infinity; the computation overflowed");
  if (logits.size() > 1 && all.max == all.min) {
    return DataLossError(
        "logits: expected values that differ, got {} for every token; the model file or the computation is broken",
        all.max);
  }
  return OkStatus();
}

void LogitsScan::Rescan(std::span<const float> logits, size_t index) {
  const size_t block = index / kBlock;
  block_max_[block] = ScanBlock(Block(logits, block)).max;
}

float LogitsScan::Max() const { return *std::max_element(block_max_.begin(), block_max_.end()); }

size_t LogitsScan::ArgMax(std::span<const float> logits) const {
  const auto best = std::max_element(block_max_.begin(), block_max_.end());
  const size_t first = static_cast<size_t>(best - block_max_.begin()) * kBlock;
  return static_cast<size_t>(std::find(logits.begin() + static_cast<ptrdiff_t>(first), logits.end(), *best) -
                             logits.begin());
}

float LogitsScan::LowerBoundOfKthLargest(size_t size, size_t k) {
  if (k >= size || k > block_max_.size()) return -kInfinity;
  scratch_ = block_max_;
  const auto kth = scratch_.begin() + static_cast<ptrdiff_t>(k - 1);
  std::nth_element(scratch_.begin(), kth, scratch_.end(), std::greater<>());
  return *kth;
}

void LogitsScan::TopCandidates(std::span<const float> logits, size_t k, std::vector<int32_t>& indices) {
  indices.clear();
  const float bound = LowerBoundOfKthLargest(logits.size(), k);
  for (size_t block = 0; block < block_max_.size(); ++block) {
    if (block_max_[block] < bound) continue;
    const auto values = Block(logits, block);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] >= bound) indices.push_back(static_cast<int32_t>(block * kBlock + i));
    }
  }
  if (indices.size() <= k) return;

  scratch_.clear();
  for (const int32_t index : indices) scratch_.push_back(logits[static_cast<size_t>(index)]);
  const auto kth = scratch_.begin() + static_cast<ptrdiff_t>(k - 1);
  std::nth_element(scratch_.begin(), kth, scratch_.end(), std::greater<>());
  const float threshold = *kth;
  std::erase_if(indices, [&](int32_t index) { return logits[static_cast<size_t>(index)] < threshold; });
}

}  // namespace candor
