// The shape of a decoder-only transformer, read from a file's metadata and checked against itself.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/gguf.h"
#include "model/load.h"
#include "model/rope.h"

namespace reprise {

struct DecoderConfig {
  std::string architecture;
  uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, feed_forward = 0, vocabulary = 0;
  float norm_epsilon = 0;
  float attention_scale = 0;
  uint32_t trained_context = 0;  // by the file; not above the window of sliding-window attention
  RopeConfig rope;
  std::vector<std::string> notes;  // for the log: limits and ignored keys

  uint32_t q_width() const { return heads * head_dim; }
  uint32_t kv_width() const { return kv_heads * head_dim; }
};

// Reads {architecture}.* and the token embedding's shape. Errors name the key or tensor; a key that would
// change the results and is not implemented is kUnsupported.
Result<DecoderConfig> read_decoder_config(const GgufFile& file);

// Applies options.rope_scaling to config.rope and settles how many tokens a sequence may hold.
Result<uint32_t> resolve_context(DecoderConfig& config, const LoadOptions& options);

}  // namespace reprise
