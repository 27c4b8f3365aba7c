// The start weights are those of a small model on a small machine; the first steps correct them within a few
// powers of ten.
#include "sched/cost_model.h"

#include <algorithm>
#include <cmath>

namespace reprise {
namespace {
constexpr int kFirstSteps = 5;
constexpr double kRate = 0.15;
constexpr double kLargestError = 0.7;             // a factor of 2, in the logarithm of a step's time
constexpr double kSurprise = 0.2, kChange = 0.4;  // likewise
constexpr double kBesideAtFirst = 1.3;            // times the cost without decodes
constexpr uint32_t kFewestMixed = 5, kMostMixed = 40;
}  // namespace

CostModel::CostModel(double pass_tokens)
    : pass_tokens_(pass_tokens), weights_{4e6, 0.2e6, 200, 30e3, 8, 0, 0}, most_mixed_steps_(kFewestMixed) {}

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

bool CostModel::wants_decode_alone(uint64_t rows, uint32_t mixed_steps) const {
  const bool other_rows = 2 * rows > 3 * rows_alone_ || 2 * rows_alone_ > 3 * rows;
  return rows_alone_ == 0 || mixed_steps >= (other_rows ? kFewestMixed : most_mixed_steps_);
}

void CostModel::observe(const StepWork& work, Nanos elapsed) {
  const bool decodes = work.decode_rows > 0, prefills = work.prefill_token_layers > 0;
  const bool mixed = decodes && prefills, decode_alone = decodes && !prefills;
  if (mixed && seen_.mixed == 0) {
    for (const Term term : {kTokenLayers, kTokenLayerDepth})
      weights_[term + kBeside - kTokenLayers] = prefill_weight(term, /*beside=*/true);
  }
  const double decode = decode_ns(work), prefill = prefill_ns(work), predicted = decode + prefill;
  if (decode_alone) rows_alone_ = work.decode_rows;
  if (predicted <= 0 || elapsed <= 0) return;
  const double error = std::log(static_cast<double>(elapsed) / predicted);
  if (decode_alone) {
    most_mixed_steps_ = std::abs(error) > kSurprise ? std::max(most_mixed_steps_ / 2, kFewestMixed)
                                                    : std::min(most_mixed_steps_ * 2, kMostMixed);
  }
  // What a mixed step takes beyond prediction is prefill's: decode is known from steps of its own (the
  // scheduler sees to it that there are some). To blame decode for slow prefill would raise the budget for
  // prefill.
  const bool decode_known = mixed && seen_.decode > 0;
  const int first = decode_known ? kTokenLayers : kStep;  // of the terms that learn
  const Terms x = counts(work);
  int& seen = mixed ? seen_.mixed : decode_alone ? seen_.decode : seen_.prefill;
  if (seen < kFirstSteps) {
    last_error_ = 0;
    const double measured = static_cast<double>(elapsed);
    const double ratio =
        decode_known ? std::max(measured - decode, 0.1 * prefill) / prefill : measured / predicted;
    const double factor = std::pow(ratio, 1.0 / std::max(1, seen));
    for (int i = first; i < kTerms; ++i)
      if (x[i] > 0) weights_[i] *= factor;
    ++seen;
    return;
  }
  if (std::min(error, last_error_) > kChange || std::max(error, last_error_) < -kChange) {
    const double common = std::abs(error) < std::abs(last_error_) ? error : last_error_;
    // Prefill is not taken for cheaper at once: should it not be, the next step would be too long.
    for (int i = 0; i < (common > 0 ? kTerms : kTokenLayers); ++i) weights_[i] *= std::exp(common);
    seen_.decode = std::min(seen_.decode, 1);
    rows_alone_ = 0;
    most_mixed_steps_ = kFewestMixed;
    last_error_ = 0;
    return;
  }
  last_error_ = error;
  const double step = kRate * std::clamp(error, -kLargestError, kLargestError);
  for (int i = first; i < kTerms; ++i) weights_[i] *= std::exp(step * weights_[i] * x[i] / predicted);
}

}  // namespace reprise
