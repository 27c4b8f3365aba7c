// Chooses the token that follows a row of logits, as core/sampling_params.h defines: logit_bias, penalties,
// temperature, top_k, top_p, min_p, one draw. The outcome is a function of the row, the tokens so far and the
// parameters alone.
//
// top_k, top_p and min_p each keep a prefix of the tokens in order of probability (equal ones by id), judged
// on what the one before left: top_p the shortest whose mass reaches top_p of that, at least one; min_p those
// of at least min_p times the likeliest's probability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/event.h"
#include "core/sampling_params.h"
#include "core/token.h"
#include "engine/sampler/row_scan.h"

namespace reprise {

struct SampleRequest {
  TokenSpan tokens;          // prompt, then output so far; the drawn token's position is tokens.size()
  uint32_t prompt_size = 0;  // of them
  const SamplingParams* params = nullptr;
  TokenSpan banned;  // never drawn
};

// Scratch memory for sampling one row at a time: one object a thread.
class Sampler {
 public:
  // `logits` has one element a token of the vocabulary and is changed. All token ids must be below its size.
  // Errors: kInternal when a logit is not finite, kInvalid when no token may be drawn.
  Result<SampledToken> sample(std::span<float> logits, const SampleRequest& request);
  // The log-probability of `token` by the model itself, and those of the `top` likeliest. Errors: kInternal
  // when a logit is not finite.
  Result<SampledToken> score(std::span<const float> logits, TokenId token, int32_t top);

 private:
  void adjust(std::span<float> logits, const SampleRequest& request);
  TokenId draw(std::span<const float> logits, float max, const SamplingParams& params, double u);
  double keep_top_p(std::span<const float> values, std::span<float> weights, double total, double top_p);
  void fill_logprobs(std::span<const float> logits, int32_t top, SampledToken& result);
  template <typename F>
  void for_each_distinct(TokenSpan tokens, F f);

  std::vector<float> raw_;      // the row as the model computed it, when log-probabilities are wanted
  std::vector<float> values_;   // logits of the tokens that top_k kept
  std::vector<float> weights_;  // softmax numerators of the row, or of values_
  std::vector<Candidate> kept_;
  std::vector<Candidate> nucleus_;
  std::vector<uint32_t> counts_;  // by token, all zero between calls
  std::vector<TokenId> distinct_;
};

}  // namespace reprise
