// The start weights are those of a small model on a small machine; the first steps correct them within a few
// powers of ten.
#include "sched/cost_model.h"

#include <algorithm>
#include <cmath>

namespace reprise {
namespace {
constexpr int kTrustedSteps = 4;
constexpr double kRate = 0.15;
constexpr double kLargestCorrection = 2.0;  // of a ratio, once past the first steps of its kind
constexpr double kBesideAtFirst = 1.3;      // times the cost without decodes
constexpr double kSurprise = 0.2;           // of a step of decode alone, in the logarithm of its time
constexpr uint32_t kFewestMixed = 5, kMostMixed = 40;
}  // namespace

CostModel::CostModel(double pass_tokens)
    : pass_tokens_(pass_tokens), weights_{2e6, 1e6, 500, 30e3, 8, 0, 0}, most_mixed_steps_(kFewestMixed) {}

CostModel::Terms CostModel::counts(const StepWork& work) const {
  Terms x{};
  x[kStep] = work.decode_rows > 0 ? 1.0 : 0.0;
  x[kRows] = static_cast<double>(work.decode_rows);
  x[kRowDepth] = static_cast<double>(work.decode_depth);
  const int first = work.decode_rows > 0 ? kBeside : kTokenLayers;
  x[first] = work.prefill_token_layers + pass_tokens_ * work.prefill_passes;
  x[first + 1] = work.prefill_depth;
  return x;
}

double CostModel::prefill_weight(Term term, bool beside) const {
  if (!beside) return weights_[term];
  return seen_.mixed > 0 ? weights_[term + kBeside - kTokenLayers] : kBesideAtFirst * weights_[term];
}

double CostModel::decode_ns(const StepWork& work) const {
  const Terms x = counts(work);
  return weights_[kStep] * x[kStep] + weights_[kRows] * x[kRows] + weights_[kRowDepth] * x[kRowDepth];
}

double CostModel::prefill_ns(const StepWork& work) const {
  const Terms x = counts(work);
  const bool beside = work.decode_rows > 0;
  const int first = beside ? kBeside : kTokenLayers;
  return prefill_weight(kTokenLayers, beside) * x[first] +
         prefill_weight(kTokenLayerDepth, beside) * x[first + 1];
}

double CostModel::token_layer_ns(uint32_t position, bool beside) const {
  return prefill_weight(kTokenLayers, beside) + prefill_weight(kTokenLayerDepth, beside) * position;
}

void CostModel::observe(const StepWork& work, Nanos elapsed) {
  const bool decodes = work.decode_rows > 0, prefills = work.prefill_token_layers > 0;
  const bool mixed = decodes && prefills;
  if (mixed && seen_.mixed == 0) {
    for (const Term term : {kTokenLayers, kTokenLayerDepth})
      weights_[term + kBeside - kTokenLayers] = prefill_weight(term, /*beside=*/true);
  }
  const double predicted = decode_ns(work) + prefill_ns(work);
  if (predicted <= 0 || elapsed <= 0) return;
  int& seen = mixed ? seen_.mixed : decodes ? seen_.decode : seen_.prefill;
  double ratio = static_cast<double>(elapsed) / predicted;
  if (decodes && !mixed) {
    const bool surprise = std::abs(std::log(ratio)) > kSurprise;
    most_mixed_steps_ = surprise ? std::max(most_mixed_steps_ / 2, kFewestMixed)
                                 : std::min(most_mixed_steps_ * 2, kMostMixed);
  }
  if (seen >= kTrustedSteps) ratio = std::clamp(ratio, 1 / kLargestCorrection, kLargestCorrection);
  const double step = std::max(kRate, 1.0 / ++seen) * std::log(ratio);
  const Terms x = counts(work);
  Terms shares;
  for (int i = 0; i < kTerms; ++i) shares[i] = weights_[i] * x[i] / predicted;
  // What a mixed step takes beyond prediction is prefill's: decode is known from steps of its own (the
  // scheduler sees to it that there are some). To blame decode for slow prefill would raise the budget for
  // prefill.
  if (mixed && seen_.decode > 0) shares[kStep] = shares[kRows] = shares[kRowDepth] = 0;
  for (int i = 0; i < kTerms; ++i) weights_[i] *= std::exp(step * shares[i]);
}

}  // namespace reprise
