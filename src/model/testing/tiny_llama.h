// Small random models, the same bytes on every machine: for tests of the model and of all that runs
// one, and for the oracle, which reads the very files that write_oracle_models() makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/table.h"
#include "model/testing/gguf_writer.h"

namespace reprise::testing {

// In every layer after the leading dense ones; count 0: in none.
struct TinyExperts {
  uint32_t count = 0, used = 2, inner = 96, shared = 0, leading_dense = 0;
  uint32_t groups = 0, groups_used = 0;  // 0: not in the file
  float scale = 0;                       // 0: not in the file
  bool selection_bias = false;
  bool biases = false;    // of the router and the experts
  float router_gain = 2;  // spread of the router's logits
};

struct TinyLlama {
  std::string name = "tiny", architecture = "llama";
  std::vector<kernels::WeightType> types = {kernels::WeightType::kQ8_0};  // of matrices, taken in turn
  uint32_t layers = 2, hidden = 256, heads = 4, kv_heads = 2, head_dim = 64, feed_forward = 256,
           vocabulary = 320;
  uint32_t rotary = 0;  // 0 = head_dim
  uint32_t context = 512;
  uint32_t eos = 257;  // 257 is <|im_end|>, 258 on are <|extra_N|>, all control tokens
  bool tied = true;
  bool biases = false;      // of all projections but the output head
  bool qkv_biases = false;  // of q, k and v alone
  bool head_norms = false, post_norms = false;
  const char* mlp_norm = "ffn_norm";
  bool sinks = false;              // attn_sinks, one a head
  uint32_t prediction_blocks = 0;  // after the layers: of further tokens, hinted at by one tensor each
  uint32_t window = 0;             // attention.sliding_window
  float temperature = 0;           // attention.temperature_scale
  float rope_base = 10000;
  std::string scaling;  // "", "linear", "yarn": by `factor` over `original_context`
  float factor = 1;
  uint32_t original_context = 0;
  float yarn_log_multiplier = 0;  // of YaRN
  bool llama3_divisors = false;   // as Llama 3.1 derives them: x8, 1, 4, over original_context
  TinyExperts experts;
  uint64_t seed = 1;
};

GgufWriter make_tiny_llama(const TinyLlama& options = {});

// What the oracle computes: llama with every weight type, RoPE scaling and optional part, and one or a few of
// each other architecture.
std::vector<TinyLlama> oracle_models();

}  // namespace reprise::testing
