// The start weights are those of a small model on a small machine; the first steps correct them within a few
// powers of ten.
#include "sched/cost_model.h"

#include <algorithm>
#include <cmath>

namespace reprise {
namespace {
constexpr int kFastSteps = 4;
constexpr double kFastRate = 1.0, kRate = 0.15;
constexpr double kLargestCorrection = 2.0;  // of a ratio, once past the first steps
constexpr double kBesideAtFirst = 1.3;      // times the cost without decodes
}  // namespace

CostModel::CostModel(double pass_tokens)
    : pass_tokens_(pass_tokens), weights_{2e6, 1e6, 500, 30e3, 8, 0, 0} {}

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
  return beside_seen_ ? weights_[term + kBeside - kTokenLayers] : kBesideAtFirst * weights_[term];
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
  if (!beside_seen_ && work.decode_rows > 0 && work.prefill_token_layers > 0) {
    for (const Term term : {kTokenLayers, kTokenLayerDepth})
      weights_[term + kBeside - kTokenLayers] = prefill_weight(term, /*beside=*/true);
    beside_seen_ = true;
  }
  const double predicted = decode_ns(work) + prefill_ns(work);
  if (predicted <= 0 || elapsed <= 0) return;
  const bool fast = (work.decode_rows > 0 && decode_seen_ < kFastSteps) ||
                    (work.prefill_token_layers > 0 && prefill_seen_ < kFastSteps);
  decode_seen_ += work.decode_rows > 0;
  prefill_seen_ += work.prefill_token_layers > 0;
  double ratio = static_cast<double>(elapsed) / predicted;
  if (!fast) ratio = std::clamp(ratio, 1 / kLargestCorrection, kLargestCorrection);
  const double step = (fast ? kFastRate : kRate) * std::log(ratio);
  const Terms x = counts(work);
  Terms shares;
  for (int i = 0; i < kTerms; ++i) shares[i] = weights_[i] * x[i] / predicted;
  // What a mixed step takes beyond prediction is prefill's: decode is known from steps of its own (the
  // scheduler sees to it that there are some). To blame decode for slow prefill would raise the budget for
  // prefill.
  if (decode_alone_seen_ && work.prefill_token_layers > 0)
    shares[kStep] = shares[kRows] = shares[kRowDepth] = 0;
  decode_alone_seen_ |= work.prefill_token_layers == 0;
  for (int i = 0; i < kTerms; ++i) weights_[i] *= std::exp(step * shares[i]);
}

}  // namespace reprise
