// How a mixture-of-experts layer chooses the experts of a row, and their weights, from the router's logits.
#pragma once

#include <cstdint>
#include <span>

namespace reprise {

struct RouterConfig {
  enum class Score : uint8_t {
    kSoftmax,          // of all logits
    kSigmoid,          // of each
    kSoftmaxOfChosen,  // experts are chosen by logit, the softmax is over theirs
  };
  static constexpr uint32_t kMaxExperts = 1024;

  uint32_t experts = 0, used = 0;  // used <= experts <= kMaxExperts
  Score score = Score::kSoftmax;
  bool normalise = false;                // weights are divided by their sum
  float scale = 1;                       // multiplies them then
  uint32_t groups = 1, groups_used = 1;  // only experts of the best groups are chosen; a group has at least 2
};

// chosen[used]: the experts of the highest score + selection bias, descending; of equals the lower index.
// weights[used]: from their scores without the bias. A group counts as much as its best two experts together
// (DeepSeek-V3, 2024); experts of groups not taken are out, however low the others score. `selection_bias` is
// [experts] or empty. Logits that are not finite give weights that are not, and valid choices.
void route(const RouterConfig& config, const float* logits, std::span<const float> selection_bias,
           uint32_t* chosen, float* weights);

}  // namespace reprise
