#include "model/router.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace reprise {
namespace {

constexpr float kOut = -std::numeric_limits<float>::infinity();

using Values = std::array<float, RouterConfig::kMaxExperts>;

void softmax(float* x, uint32_t count) {
  const float top = *std::max_element(x, x + count);
  float sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += x[i] = std::exp(x[i] - top);
  for (uint32_t i = 0; i < count; ++i) x[i] /= sum;
}

// The `count` highest of the values, descending. Written so that values that are not numbers are never moved
// ahead of others: the first ones fill the places.
void highest(std::span<const float> values, uint32_t count, uint32_t* chosen) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    uint32_t at = std::min(i, count);
    while (at > 0 && values[i] > values[chosen[at - 1]]) --at;
    if (at == count) continue;
    std::copy_backward(chosen + at, chosen + std::min(i, count - 1), chosen + std::min(i, count - 1) + 1);
    chosen[at] = i;
  }
}

// Leaves only the best groups' experts to choose from.
void drop_groups(const RouterConfig& c, float* selection) {
  const uint32_t size = c.experts / c.groups;
  Values scores;
  for (uint32_t g = 0; g < c.groups; ++g) {
    float best[2] = {kOut, kOut};
    for (uint32_t i = g * size; i < (g + 1) * size; ++i) {
      if (selection[i] > best[0])
        best[1] = std::exchange(best[0], selection[i]);
      else if (selection[i] > best[1])
        best[1] = selection[i];
    }
    scores[g] = best[0] + best[1];
  }
  std::array<uint32_t, RouterConfig::kMaxExperts> kept;
  highest({scores.data(), c.groups}, c.groups_used, kept.data());
  for (uint32_t g = 0; g < c.groups; ++g)
    if (std::find(kept.begin(), kept.begin() + c.groups_used, g) == kept.begin() + c.groups_used)
      std::fill_n(selection + g * size, size, kOut);
}

}  // namespace

void route(const RouterConfig& c, const float* logits, std::span<const float> selection_bias,
           uint32_t* chosen, float* weights) {
  Values scores, selection;
  std::copy_n(logits, c.experts, scores.begin());
  if (c.score == RouterConfig::Score::kSoftmax) softmax(scores.data(), c.experts);
  if (c.score == RouterConfig::Score::kSigmoid)
    for (uint32_t e = 0; e < c.experts; ++e) scores[e] = 1 / (1 + std::exp(-scores[e]));
  for (uint32_t e = 0; e < c.experts; ++e)
    selection[e] = selection_bias.empty() ? scores[e] : scores[e] + selection_bias[e];
  if (c.groups_used < c.groups) drop_groups(c, selection.data());
  highest({selection.data(), c.experts}, c.used, chosen);

  for (uint32_t i = 0; i < c.used; ++i) weights[i] = scores[chosen[i]];
  if (c.score == RouterConfig::Score::kSoftmaxOfChosen) softmax(weights, c.used);
  if (c.normalise) {
    // Sigmoids may all come out as 0; the reference code of the models that have them adds this.
    float sum = c.score == RouterConfig::Score::kSigmoid ? 1e-20f : 0;
    for (uint32_t i = 0; i < c.used; ++i) sum += weights[i];
    for (uint32_t i = 0; i < c.used; ++i) weights[i] /= sum;
  }
  for (uint32_t i = 0; i < c.used; ++i) weights[i] *= c.scale;
}

}  // namespace reprise
