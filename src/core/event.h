// What the engine tells a request's owner, in this order: Started once, PromptTokens and then Tokens any
// number of times, Finished exactly once and last (an early failure or cancellation may come without
// Started).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/token.h"

namespace reprise {

struct TokenLogprob {
  TokenId token;
  float logprob;  // natural logarithm
};

struct SampledToken {
  TokenId token;
  float logprob = 0.0f;           // meaningful when logprobs were asked for
  std::vector<TokenLogprob> top;  // likeliest first, at most SamplingParams::logprobs
};

enum class FinishReason {
  kStop,       // a stop token
  kLength,     // max_tokens
  kCancelled,  // Backend::cancel, or the owner stopped reading
  kError,      // see Finished::error
};

struct Started {
  uint32_t cached_tokens;  // prompt tokens served from the prefix cache
};
// Only when Generation::prompt_logprobs asks: the prompt's tokens from the second on (nothing precedes the
// first), each once and in order, with the log-probability that the model gave it there.
struct PromptTokens {
  std::vector<SampledToken> tokens;
};
struct Tokens {
  std::vector<SampledToken> tokens;  // one per plain step, more when speculation accepts drafts
};
struct Finished {
  FinishReason reason = FinishReason::kStop;
  Error error;  // when reason is kError
  uint32_t prompt_tokens = 0;
  uint32_t cached_tokens = 0;
  uint32_t output_tokens = 0;  // a stop token that ended the generation is counted, though not emitted
  uint32_t preemptions = 0;
  Nanos queued = 0;   // submit -> first scheduled
  Nanos prefill = 0;  // first scheduled -> first token
  Nanos decode = 0;   // first token -> finish
};

using Event = std::variant<Started, PromptTokens, Tokens, Finished>;

}  // namespace reprise
