#include "models/blocks/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/blocks/config_reader.h"

namespace candor {
namespace {

// The rotary dimension that turns `rotations` times within the original context (YaRN, equation 17 solved for the
// dimension).
double CorrectionDimension(double rotations, double n_rot, double base, double original_context) {
  return n_rot * std::log(original_context / (rotations * 2.0 * std::numbers::pi)) / (2.0 * std::log(base));
}

// 0 where a frequency is kept, 1 where it is interpolated.
std::vector<double> YarnRamp(int32_t n_rot, double base, const RopeScaling& scaling) {
  const double low =
      std::max(std::floor(CorrectionDimension(scaling.beta_fast, n_rot, base, scaling.original_context)), 0.0);
  const double high = std::min(std::ceil(CorrectionDimension(scaling.beta_slow, n_rot, base, scaling.original_context)),
                               static_cast<double>(n_rot - 1));
  std::vector<double> ramp(static_cast<size_t>(n_rot / 2));
  for (size_t i = 0; i < ramp.size(); ++i) {
    ramp[i] = std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
  }
  return ramp;
}

}  // namespace

Result<RopeScaling> ReadRopeScaling(const ModelFile& file, const ModelConfig& config) {
  const auto key = [&](std::string_view name) { return ArchitectureKey(file, name); };
  RopeScaling scaling;
  CANDOR_ASSIGN_OR_RETURN(const float linear, file.GetF32Or(key("rope.scale_linear"), 1.0f));  // the older key
  CANDOR_ASSIGN_OR_RETURN(const std::string_view type,
                          file.GetStringOr(key("rope.scaling.type"), linear == 1.0f ? "none" : "linear"));
  CANDOR_ASSIGN_OR_RETURN(const float factor, file.GetF32Or(key("rope.scaling.factor"), linear));
  if (!std::isfinite(factor) || factor <= 0.0f) {
    return DataLossError("{}: key '{}': expected a positive number, got {}; the file is damaged", file.path(),
                         key("rope.scaling.factor"), factor);
  }
  if (type == "none") return scaling;
  scaling.factor = factor;
  if (type == "linear") {
    scaling.kind = RopeScaling::Kind::kLinear;
    return scaling;
  }
  if (type != "yarn") {
    return UnimplementedError(
        "{}: key '{}': expected none, linear or yarn, got '{}'; Candor does not know this scaling", file.path(),
        key("rope.scaling.type"), type);
  }
  scaling.kind = RopeScaling::Kind::kYarn;
  CANDOR_ASSIGN_OR_RETURN(const uint32_t original,
                          file.GetU32Or(key("rope.scaling.original_context_length"), config.trained_context));
  CANDOR_ASSIGN_OR_RETURN(const float attention_factor, file.GetF32Or(key("rope.scaling.attn_factor"), 1.0f));
  CANDOR_ASSIGN_OR_RETURN(const float beta_fast, file.GetF32Or(key("rope.scaling.yarn_beta_fast"), 32.0f));
  CANDOR_ASSIGN_OR_RETURN(const float beta_slow, file.GetF32Or(key("rope.scaling.yarn_beta_slow"), 1.0f));
  scaling.original_context = std::max(original, 1u);
  scaling.attention_factor = attention_factor;
  scaling.beta_fast = beta_fast;
  scaling.beta_slow = beta_slow;
  return scaling;
}

RopeSpec MakeRopeSpec(int32_t n_rot, double base, const RopeScaling& scaling, const std::vector<float>& divisors,
                      RopePairing pairing) {
  RopeSpec spec;
  spec.pairing = pairing;
  spec.inverse_frequency.resize(static_cast<size_t>(n_rot / 2));
  const bool yarn = scaling.kind == RopeScaling::Kind::kYarn;
  const std::vector<double> ramp = yarn ? YarnRamp(n_rot, base, scaling) : std::vector<double>();
  for (size_t i = 0; i < spec.inverse_frequency.size(); ++i) {
    double frequency = std::pow(base, -2.0 * static_cast<double>(i) / n_rot);
    if (!divisors.empty()) frequency /= static_cast<double>(divisors[i]);
    const double interpolated = frequency / scaling.factor;
    if (scaling.kind == RopeScaling::Kind::kLinear) frequency = interpolated;
    if (yarn) frequency = interpolated * ramp[i] + frequency * (1.0 - ramp[i]);
    spec.inverse_frequency[i] = frequency;
  }
  if (yarn) spec.magnitude = static_cast<float>(scaling.attention_factor * (1.0 + 0.1 * std::log(scaling.factor)));
  return spec;
}

}  // namespace candor
