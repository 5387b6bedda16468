#include "models/blocks/config_reader.h"

#include <cmath>

namespace candor {
namespace {

// Bounds far above any model, so that products of two sizes never overflow and a lying file fails here.
constexpr uint32_t kMaxLayers = 1024;
constexpr uint32_t kMaxWidth = 1u << 20;
constexpr uint32_t kMaxHeads = 4096;
constexpr uint32_t kMaxHeadDim = 4096;
constexpr uint32_t kMaxContext = 1u << 30;

class Reader {
 public:
  explicit Reader(const ModelFile& file) : file_(file) {}

  Result<uint32_t> Size(std::string_view name, uint32_t limit) const {
    const std::string key = ArchitectureKey(file_, name);
    CANDOR_ASSIGN_OR_RETURN(const uint32_t value, file_.GetU32(key));
    return Check(key, value, limit);
  }
  Result<uint32_t> SizeOr(std::string_view name, uint32_t fallback, uint32_t limit) const {
    const std::string key = ArchitectureKey(file_, name);
    CANDOR_ASSIGN_OR_RETURN(const uint32_t value, file_.GetU32Or(key, fallback));
    return Check(key, value, limit);
  }
  Result<float> PositiveOr(std::string_view name, float fallback) const {
    const std::string key = ArchitectureKey(file_, name);
    CANDOR_ASSIGN_OR_RETURN(const float value, file_.GetF32Or(key, fallback));
    if (!std::isfinite(value) || value <= 0.0f) {
      return DataLossError("{}: key '{}': expected a positive number, got {}; the file is damaged", file_.path(), key,
                           value);
    }
    return value;
  }

 private:
  Result<uint32_t> Check(const std::string& key, uint32_t value, uint32_t limit) const {
    if (value == 0 || value > limit) {
      return DataLossError("{}: key '{}': expected 1 to {}, got {}; the file is damaged", file_.path(), key, limit,
                           value);
    }
    return value;
  }
  const ModelFile& file_;
};

Result<uint32_t> ReadVocabulary(const ModelFile& file) {
  const TensorInfo* embedding = file.FindTensor("token_embd.weight");
  if (embedding == nullptr) {
    return NotFoundError("{}: tensor 'token_embd.weight': expected in every model, got none; the file is incomplete",
                         file.path());
  }
  if (embedding->shape.size() != 2 || embedding->shape[1] > int64_t{1} << 24) {
    return DataLossError("{}: tensor 'token_embd.weight': expected shape [hidden, vocabulary], got {} dimensions",
                         file.path(), embedding->shape.size());
  }
  return static_cast<uint32_t>(embedding->shape[1]);
}

Status CheckHeads(const ModelFile& file, const ModelConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    return DataLossError("{}: attention.head_count {} is not a multiple of attention.head_count_kv {}", file.path(),
                         config.heads, config.kv_heads);
  }
  if (config.n_rot % 2 != 0 || config.n_rot > config.key_dim) {
    return DataLossError("{}: rope.dimension_count: expected an even number up to the head size {}, got {}",
                         file.path(), config.key_dim, config.n_rot);
  }
  return OkStatus();
}

}  // namespace

std::string ArchitectureKey(const ModelFile& file, std::string_view name) {
  const Result<std::string_view> architecture = file.GetString("general.architecture");
  return fmt::format("{}.{}", architecture.ok() ? *architecture : "", name);
}

Result<ModelConfig> ReadDenseConfig(const ModelFile& file, double default_rope_base) {
  const Reader reader(file);
  ModelConfig config;
  CANDOR_ASSIGN_OR_RETURN(const std::string_view architecture, file.GetString("general.architecture"));
  config.architecture = architecture;
  CANDOR_ASSIGN_OR_RETURN(config.vocabulary, ReadVocabulary(file));
  CANDOR_ASSIGN_OR_RETURN(config.layers, reader.Size("block_count", kMaxLayers));
  CANDOR_ASSIGN_OR_RETURN(config.trained_context, reader.Size("context_length", kMaxContext));
  CANDOR_ASSIGN_OR_RETURN(config.hidden, reader.Size("embedding_length", kMaxWidth));
  CANDOR_ASSIGN_OR_RETURN(config.feed_forward, reader.Size("feed_forward_length", kMaxWidth));
  CANDOR_ASSIGN_OR_RETURN(config.heads, reader.Size("attention.head_count", kMaxHeads));
  CANDOR_ASSIGN_OR_RETURN(config.kv_heads, reader.SizeOr("attention.head_count_kv", config.heads, kMaxHeads));
  const uint32_t head_dim = std::max(1u, config.hidden / config.heads);
  CANDOR_ASSIGN_OR_RETURN(config.key_dim, reader.SizeOr("attention.key_length", head_dim, kMaxHeadDim));
  CANDOR_ASSIGN_OR_RETURN(config.value_dim, reader.SizeOr("attention.value_length", config.key_dim, kMaxHeadDim));
  CANDOR_ASSIGN_OR_RETURN(config.n_rot, reader.SizeOr("rope.dimension_count", config.key_dim, kMaxHeadDim));
  CANDOR_ASSIGN_OR_RETURN(config.rms_epsilon, reader.PositiveOr("attention.layer_norm_rms_epsilon", 1e-5f));
  CANDOR_ASSIGN_OR_RETURN(config.rope_base, reader.PositiveOr("rope.freq_base", static_cast<float>(default_rope_base)));
  config.layer_is_local.assign(config.layers, false);
  config.tied_output = file.FindTensor("output.weight") == nullptr;
  CANDOR_RETURN_IF_ERROR(CheckHeads(file, config));
  return config;
}

}  // namespace candor
