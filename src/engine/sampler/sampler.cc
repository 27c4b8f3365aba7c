// Design: the row is never sorted whole. Every filter keeps a prefix of one order (logit, then id), so each
// finds its set by partial selection, and survivors are then walked in order of id, which needs no sort at
// all.
//   top_k  select_top: block maxima bound the k-th logit.
//   top_p  where the tokens of at least some weight hold more than p of the mass, the nucleus lies among
//   them. A few
//          such bounds are tried; (1 - p) * total / n always is one, as lighter tokens hold less than 1 - p
//          together. What remains, a few hundred mostly, is bisected by partial selection and never sorted.
//   min_p  compares weights, as the likeliest token's weight is 1.
// Invariant: counts_ is all zero between calls.
#include "engine/sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/sampler/philox.h"

namespace reprise {

namespace {
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kColdest = 1e-30f;  // keeps 1 / temperature finite; draws the arg max anyway

// Extreme penalties and biases must not make infinities, whose differences are not numbers.
float clamped(float logit) { return std::clamp(logit, -kLargest, kLargest); }

// The first index of positive weight at which the running sum exceeds `target`, or the last one of positive
// weight when rounding keeps the sum from passing it.
size_t walk(std::span<const float> weights, double target) {
  constexpr size_t kStride = 1024;
  double reached = 0;
  for (size_t begin = 0; begin < weights.size(); begin += kStride) {
    const auto piece = weights.subspan(begin, std::min(kStride, weights.size() - begin));
    const double mass = sum(piece);
    if (reached + mass > target) {
      double running = reached;
      for (size_t i = 0; i < piece.size(); ++i) {
        running += piece[i];
        if (piece[i] > 0 && running > target) return begin + i;
      }
    }
    reached += mass;
  }
  size_t last = weights.size() - 1;
  while (last > 0 && weights[last] <= 0) --last;
  return last;
}

Result<void> check_finite(std::span<const float> logits) {
  if (all_finite(logits)) return {};
  return fail(ErrorKind::kInternal, "the model computed a logit that is not finite");
}
}  // namespace

Result<SampledToken> Sampler::sample(std::span<float> logits, const SampleRequest& request) {
  const SamplingParams& params = *request.params;
  TRY(check_finite(logits));
  if (params.logprobs >= 0) raw_.assign(logits.begin(), logits.end());
  adjust(logits, request);

  const float max = max_of(logits);
  if (max == kMinusInfinity) return invalid("no token may be drawn: all are banned");
  SampledToken result;
  result.token = params.greedy() ? arg_max(logits)
                                 : draw(logits, max, params, uniform(params.seed, request.tokens.size()));
  if (params.logprobs >= 0) fill_logprobs(raw_, params.logprobs, result);
  return result;
}

Result<SampledToken> Sampler::score(std::span<const float> logits, TokenId token, int32_t top) {
  TRY(check_finite(logits));
  SampledToken result;
  result.token = token;
  fill_logprobs(logits, top, result);
  return result;
}

template <typename F>
void Sampler::for_each_distinct(TokenSpan tokens, F f) {
  for (TokenId token : tokens)
    if (counts_[token]++ == 0) distinct_.push_back(token);
  for (TokenId token : distinct_) f(token, std::exchange(counts_[token], 0));
  distinct_.clear();
}

void Sampler::adjust(std::span<float> logits, const SampleRequest& request) {
  const SamplingParams& params = *request.params;
  for (const auto& [token, bias] : params.logit_bias) logits[token] = clamped(logits[token] + bias);
  if (params.penalized() && counts_.size() < logits.size()) counts_.resize(logits.size());
  if (params.repetition_penalty != 1.0f) {
    const float penalty = params.repetition_penalty;
    for_each_distinct(request.tokens, [&](TokenId token, uint32_t) {
      float& logit = logits[token];
      logit = clamped(logit > 0 ? logit / penalty : logit * penalty);
    });
  }
  if (params.presence_penalty != 0.0f || params.frequency_penalty != 0.0f) {
    for_each_distinct(request.tokens.subspan(request.prompt_size), [&](TokenId token, uint32_t count) {
      const float penalty = params.presence_penalty + params.frequency_penalty * static_cast<float>(count);
      logits[token] = clamped(logits[token] - penalty);
    });
  }
  for (TokenId token : request.banned) logits[token] = kMinusInfinity;
}

TokenId Sampler::draw(std::span<const float> logits, float max, const SamplingParams& params, double u) {
  // What is left after top_k: `values`, whose element i is token ids[i], or token i when ids is empty.
  std::span<const float> values = logits;
  std::span<const Candidate> ids;
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < logits.size()) {
    select_top(logits, static_cast<size_t>(params.top_k), kept_);
    std::sort(kept_.begin(), kept_.end(), [](auto& a, auto& b) { return a.token < b.token; });
    values_.clear();
    for (const Candidate& candidate : kept_) values_.push_back(candidate.logit);
    values = values_;
    ids = kept_;
  }

  if (weights_.size() < values.size()) weights_.resize(logits.size());
  const std::span<float> weights = std::span(weights_).first(values.size());
  double total = exp_weights(values, max, 1.0f / std::max(params.temperature, kColdest), weights.data());
  if (params.top_p < 1.0f) total = keep_top_p(values, weights, total, std::max(params.top_p, 0.0f));
  if (params.min_p > 0.0f) {
    const float least = std::min(params.min_p, 1.0f);
    for (float& weight : weights) weight = weight >= least ? weight : 0.0f;
    total = sum(weights);
  }
  const size_t chosen = walk(weights, u * total);
  return ids.empty() ? static_cast<TokenId>(chosen) : ids[chosen].token;
}

double Sampler::keep_top_p(std::span<const float> values, std::span<float> weights, double total,
                           double top_p) {
  double floor = (1 - top_p) * total / static_cast<double>(values.size());
  for (float bound : {0.1f, 1e-2f, 1e-3f, 1e-4f}) {
    if (bound <= floor) break;
    if (sum_at_least(weights, bound) <= 1.000001 * top_p * total) continue;
    floor = bound;
    break;
  }
  floor *= 0.999;  // exp is not exact: a slightly smaller weight may belong to a larger logit
  nucleus_.clear();
  for (size_t i = 0; i < values.size(); ++i)
    if (weights[i] > 0 && weights[i] >= floor) nucleus_.push_back({static_cast<TokenId>(i), values[i]});

  // Bisection: the nucleus ends in (low, high], `mass` is that of the elements before `low`.
  const auto at = [&](size_t i) { return nucleus_.begin() + static_cast<ptrdiff_t>(i); };
  size_t low = 0, high = nucleus_.size();
  double mass = 0;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    std::nth_element(at(low), at(middle), at(high), before);
    double half = 0;
    for (auto i = at(low); i != at(middle); ++i) half += weights[i->token];
    if (mass + half >= top_p * total) {
      high = middle;
    } else {
      low = middle;
      mass += half;
    }
  }

  // Everything else loses its weight.
  nucleus_.resize(high);
  for (Candidate& candidate : nucleus_) candidate.logit = weights[candidate.token];
  std::fill(weights.begin(), weights.end(), 0.0f);
  for (const Candidate& candidate : nucleus_) weights[candidate.token] = candidate.logit;
  return sum(weights);
}

void Sampler::fill_logprobs(std::span<const float> logits, int32_t top, SampledToken& result) {
  const float max = max_of(logits);
  const double log_total = max + std::log(exp_sum(logits, max));
  const auto logprob = [&](float logit) { return static_cast<float>(logit - log_total); };
  result.logprob = logprob(logits[static_cast<size_t>(result.token)]);
  if (top == 0) return;
  select_top(logits, static_cast<size_t>(top), kept_);
  std::sort(kept_.begin(), kept_.end(), before);
  for (const Candidate& candidate : kept_) result.top.push_back({candidate.token, logprob(candidate.logit)});
}

}  // namespace reprise
