// One request to the engine: tokens in, tokens out. Text, stop strings and JSON stay with the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sampling_params.h"
#include "core/token.h"

namespace reprise {

struct Generation {
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  // prompt + max_tokens <= the model's context length; 0: the prompt is computed alone.
  uint32_t max_tokens = 0;
  // The prompt's own log-probabilities, as PromptTokens: -1 none; 0 each token's; n > 0 also the n likeliest
  // tokens'. Positions whose log-probability is not known yet are computed, whatever the cache holds.
  int32_t prompt_logprobs = -1;
  uint32_t min_tokens = 0;           // stop tokens are not sampled before this many
  std::vector<TokenId> stop_tokens;  // ending ids; empty = ignore_eos. A stop token is not emitted.
  uint64_t session =
      0;  // requests of one session share it: fairness is between sessions. 0 = a session of its own
  std::string cache_salt;  // requests with different salts never share cached prefixes
};

}  // namespace reprise
