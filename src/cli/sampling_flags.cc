#include "cli/sampling_flags.h"

#include <limits>
#include <random>

#include "cli/flags.h"
#include "cli/number.h"

namespace candor::cli {
namespace {

constexpr double kMaxFloat = std::numeric_limits<float>::max();
constexpr int32_t kMaxInt = std::numeric_limits<int32_t>::max();

// A metadata number of any type; nullopt when the key is absent.
Result<std::optional<double>> FindNumber(const ModelFile& file, const std::string& key) {
  const MetadataValue* value = file.FindMetadata(key);
  if (value == nullptr) return std::optional<double>();
  if (const auto* number = std::get_if<double>(value)) return std::optional(*number);
  if (const auto* number = std::get_if<uint64_t>(value)) return std::optional(static_cast<double>(*number));
  if (const auto* number = std::get_if<int64_t>(value)) return std::optional(static_cast<double>(*number));
  return InvalidArgumentError("{}: key {}: expected a number, got another type; the file is broken", file.path(), key);
}

// The user's value, else the file's, else what is there.
template <typename T>
Status Resolve(const std::optional<T>& flag, const ModelFile& file, const char* key, T& value) {
  if (flag) {
    value = *flag;
    return OkStatus();
  }
  const std::string full_key = std::string("general.sampling.") + key;
  CANDOR_ASSIGN_OR_RETURN(const std::optional<double> number, FindNumber(file, full_key));
  if (!number) return OkStatus();
  if (!(*number >= -kMaxInt && *number <= kMaxInt)) {
    return InvalidArgumentError("{}: key {}: expected a number of at most {}, got {}", file.path(), full_key, kMaxInt,
                                *number);
  }
  value = static_cast<T>(*number);
  return OkStatus();
}

template <typename T>
auto Setter(std::optional<T>& target) {
  return [&target](auto value) { target = static_cast<T>(value); };
}

}  // namespace

Result<std::pair<TokenId, float>> ParseLogitBias(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return InvalidArgumentError("expected ID=VALUE, got '{}'", text);
  CANDOR_ASSIGN_OR_RETURN(const int64_t id, ParseInteger(text.substr(0, equals), 0, kMaxInt));
  const std::string number = text.substr(equals + 1);
  if (number == "-inf") return std::pair(static_cast<TokenId>(id), -std::numeric_limits<float>::infinity());
  CANDOR_ASSIGN_OR_RETURN(const double value, ParseNumber(number, -kMaxFloat, kMaxFloat));
  return std::pair(static_cast<TokenId>(id), static_cast<float>(value));
}

void AddSamplingFlags(CLI::App& app, SamplingFlags& flags) {
  AddNumber(app, "--temp", 0, kMaxFloat, Setter(flags.temperature), "Temperature; 0 is greedy (default: 0.8)");
  AddInteger(app, "--top-k", {0, kMaxInt}, Setter(flags.top_k),
             "Draw from the K likeliest tokens; 0: off (default: 40)");
  AddNumber(app, "--top-p", 0, 1, Setter(flags.top_p),
            "Draw from the likeliest tokens that make up this share; 1: off (default: 0.95)");
  AddNumber(app, "--min-p", 0, 1, Setter(flags.min_p),
            "Drop tokens below this share of the likeliest; 0: off (default: 0.05)");
  AddInteger(app, "--seed", {0, kNoLimit}, Setter(flags.seed),
             "Same seed, same text (default: random, shown in --json and --stats)");
  AddNumber(app, "--repeat-penalty", 1e-6, kMaxFloat, Setter(flags.repetition_penalty),
            "Divides the logits of recent tokens; 1: off (default: 1)");
  AddNumber(app, "--presence-penalty", -kMaxFloat, kMaxFloat, Setter(flags.presence_penalty),
            "Taken off recent tokens (default: 0)");
  AddNumber(app, "--frequency-penalty", -kMaxFloat, kMaxFloat, Setter(flags.frequency_penalty),
            "Taken off recent tokens each time (default: 0)");
  AddInteger(app, "--penalty-last-n", {-1, kMaxInt}, Setter(flags.penalty_last_n),
             "How many tokens the penalties look back; -1: all (default: 64)");
  AddRepeatableText(
      app, "--logit-bias",
      [&flags](const std::string& text) {
        auto bias = ParseLogitBias(text);
        if (!bias.ok()) throw CLI::ValidationError("--logit-bias", bias.status().message());
        flags.logit_bias.push_back(*bias);
      },
      "Add VALUE to the logit of token ID; -inf forbids it (repeatable)")
      ->type_name("ID=VALUE");
}

Result<SamplerOptions> ResolveSampling(const SamplingFlags& flags, const ModelFile& file) {
  SamplerOptions options;
  CANDOR_RETURN_IF_ERROR(Resolve(flags.temperature, file, "temp", options.temperature));
  CANDOR_RETURN_IF_ERROR(Resolve(flags.top_k, file, "top_k", options.top_k));
  CANDOR_RETURN_IF_ERROR(Resolve(flags.top_p, file, "top_p", options.top_p));
  CANDOR_RETURN_IF_ERROR(Resolve(flags.min_p, file, "min_p", options.min_p));
  CANDOR_RETURN_IF_ERROR(Resolve(flags.repetition_penalty, file, "penalty_repeat", options.repetition_penalty));
  CANDOR_RETURN_IF_ERROR(Resolve(flags.penalty_last_n, file, "penalty_last_n", options.penalty_last_n));
  options.presence_penalty = flags.presence_penalty.value_or(options.presence_penalty);
  options.frequency_penalty = flags.frequency_penalty.value_or(options.frequency_penalty);
  options.logit_bias = flags.logit_bias;
  options.seed = flags.seed ? *flags.seed : std::random_device{}();
  return options;
}

}  // namespace candor::cli
