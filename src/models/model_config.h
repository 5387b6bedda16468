// ModelConfig: what every family reads from a file's metadata, checked, in the field's terms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace candor {

struct ModelConfig {
  std::string architecture;  // "llama", "gemma3", "qwen2", "qwen3"
  uint32_t layers = 0;
  uint32_t vocabulary = 0;
  uint32_t trained_context = 0;
  uint32_t hidden = 0;
  uint32_t feed_forward = 0;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;
  uint32_t key_dim = 0;
  uint32_t value_dim = 0;
  uint32_t n_rot = 0;
  float rms_epsilon = 1e-5f;
  double rope_base = 10000.0;
  double rope_base_local = 10000.0;  // sliding-window layers (gemma3)
  float rope_scale = 1.0f;           // linear scaling factor
  uint32_t sliding_window = 0;       // 0: none
  std::vector<bool> layer_is_local;  // per layer: does it attend through the sliding window?
  bool tied_output = false;
};

}  // namespace candor
