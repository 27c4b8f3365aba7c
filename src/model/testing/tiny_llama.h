// Small random llama models, the same bytes on every machine: for tests of the model and of all that runs
// one, and for the oracle, which reads the very files that write_oracle_models() makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/table.h"
#include "model/testing/gguf_writer.h"

namespace reprise::testing {

struct TinyLlama {
  std::string name = "tiny";
  std::vector<kernels::WeightType> types = {kernels::WeightType::kQ8_0};  // of matrices, taken in turn
  uint32_t layers = 2, hidden = 256, heads = 4, kv_heads = 2, head_dim = 64, feed_forward = 256,
           vocabulary = 320;
  uint32_t rotary = 0;  // 0 = head_dim
  uint32_t context = 512;
  uint32_t eos = 257;  // 257 is <|im_end|>, 258 on are <|extra_N|>, all control tokens
  bool tied = true;
  bool biases = false;
  std::string scaling;  // "", "linear", "yarn": by `factor` over `original_context`
  float factor = 1;
  uint32_t original_context = 0;
  bool llama3_divisors = false;  // as Llama 3.1 derives them: x8, 1, 4, over original_context
  uint64_t seed = 1;
};

GgufWriter make_tiny_llama(const TinyLlama& options = {});

// One file of every weight type, RoPE scaling and optional part.
std::vector<TinyLlama> oracle_models();

}  // namespace reprise::testing
