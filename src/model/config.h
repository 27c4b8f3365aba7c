// The shape of a decoder-only transformer, read from a file's metadata and checked against itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/expert_config.h"
#include "model/gguf.h"
#include "model/load.h"
#include "model/model_keys.h"
#include "model/rope.h"

namespace reprise {

struct DecoderConfig {
  std::string architecture;
  uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, feed_forward = 0, vocabulary = 0;
  uint32_t unused_layers = 0;  // blocks of the file after these, which are not run
  float norm_epsilon = 0;
  float attention_scale = 0;
  float embedding_scale = 1;  // multiplies the token's embedding
  // [layer]: keys that a row sees, its own included; 0 = all. Empty: all in every layer.
  std::vector<uint32_t> windows;
  uint32_t trained_context = 0;  // by the file
  RopeConfig rope;
  ExpertConfig experts;
  std::optional<RopeConfig> window_rope;  // of the layers with a window, where it differs
  // Queries at position p are multiplied by 1 + temperature_scale ln(1 + floor(p / temperature_length)).
  float temperature_scale = 0;
  uint32_t temperature_length = 0;
  // What the configuration says the file has: biases of attention's projections, of the MLP's, norms of q's
  // and k's heads. Nothing: it does not say.
  std::optional<bool> attention_bias, mlp_bias, head_norms;
  bool interleaved = false;        // rows of q and k are permuted for rotating pairs (2i, 2i + 1)
  std::vector<std::string> notes;  // for the log: limits and ignored keys

  uint32_t q_width() const { return heads * head_dim; }
  uint32_t kv_width() const { return kv_heads * head_dim; }
  uint32_t window(uint32_t layer) const { return windows.empty() ? 0 : windows[layer]; }
};

inline constexpr uint32_t kMaxLayers = 4096;

// Reads what all architectures have in common, and the token embedding's shape. Errors name the key or
// tensor.
Result<DecoderConfig> read_decoder_config(const ModelFile& file, ModelKeys& keys);

// Reads attention.sliding_window and settles config.windows: which layers have it is
// attention.sliding_window_pattern (a bool a layer, or a number n: all but each n-th), else the
// architecture's `period`, of the latter kind; 1 means no layer, 0 all. No key or 0: none.
Result<void> read_windows(ModelKeys& keys, DecoderConfig& config, uint32_t period);

// Applies options.rope_scaling to config.rope and settles how many tokens a sequence may hold.
Result<uint32_t> resolve_context(DecoderConfig& config, const LoadOptions& options);

}  // namespace reprise
