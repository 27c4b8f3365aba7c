// How the next token is chosen. Applied in this order: logit_bias, penalties (repetition, then presence and
// frequency), temperature, top_k, top_p, min_p, then one draw from a counter-based generator keyed by (seed,
// position): a request's draws depend on nothing else. Ranges are checked in api/; see openai.com API
// reference for presence/frequency, CTRL (Keskar et al. 2019) for repetition, Nguyen et al. 2024 for min_p.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/token.h"

namespace reprise {

struct SamplingParams {
  float temperature = 1.0f;         // 0 = greedy: arg max, lowest id on ties
  int32_t top_k = 0;                // 0 = off
  float top_p = 1.0f;               // 1 = off
  float min_p = 0.0f;               // 0 = off
  float presence_penalty = 0.0f;    // counted over generated tokens
  float frequency_penalty = 0.0f;   // counted over generated tokens
  float repetition_penalty = 1.0f;  // over prompt and generated tokens; 1 = off
  std::vector<std::pair<TokenId, float>> logit_bias;
  uint64_t seed = 0;  // api/ draws one when the client gives none
  int32_t logprobs =
      -1;  // -1 none; 0 the chosen token's; n > 0 also the n likeliest tokens', before temperature

  bool greedy() const { return temperature <= 0.0f; }
  bool penalized() const {
    return presence_penalty != 0.0f || frequency_penalty != 0.0f || repetition_penalty != 1.0f;
  }
};

}  // namespace reprise
