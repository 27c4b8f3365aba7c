// The fields that chat completions and completions share: sampling, limits, stops, streaming. Names and
// ranges are OpenAI's (platform.openai.com/docs/api-reference) and, for what OpenAI lacks, vLLM's
// (docs.vllm.ai, "Extra parameters"). Data and a pure parser, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/fields.h"
#include "base/result.h"
#include "core/generation.h"
#include "core/sampling_params.h"

namespace reprise {

// Choices one request may ask for: n, times its prompts in /v1/completions.
inline constexpr int64_t kMaxChoices = 128;

struct GenerationFields {
  std::string model;        // as the client wrote it; empty when not given
  SamplingParams sampling;  // seed drawn at random when not given
  uint32_t n = 1;
  std::optional<uint32_t> max_tokens;  // empty: the rest of the context
  uint32_t min_tokens = 0;
  std::vector<std::string> stop;  // none is empty
  bool include_stop = false;      // include_stop_str_in_output
  std::vector<TokenId> stop_token_ids;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;     // a usage chunk at the end of the stream
  bool continuous_usage = false;  // usage so far in every chunk
  bool return_token_ids = false;  // the output's ids beside its text
  bool tokens_as_ids = false;     // return_tokens_as_token_ids: "token_id:42" for a token's text in logprobs
  std::string session;            // prompt_cache_key, else user: whose turn it is when sessions compete
  std::string cache_salt;         // requests with different salts share no cached prefix
};

// `vocabulary` is the number of token ids, `defaults` the sampling for what a request leaves out,
// `least_tokens` what max_tokens may be at least. logprobs differ between the two endpoints and are left to
// them.
Result<GenerationFields> parse_generation_fields(const Fields& fields, size_t vocabulary,
                                                 const SamplingParams& defaults = {},
                                                 int64_t least_tokens = 1);

// Choice `index` of a request: choice 0 draws with the request's own seed, the others with seeds derived from
// it.
uint64_t choice_seed(uint64_t seed, uint32_t index);

// Token ids from a JSON array, each checked against the vocabulary.
Result<std::vector<TokenId>> parse_token_ids(const boost::json::array& ids, const std::string& path,
                                             size_t vocabulary);

}  // namespace reprise
