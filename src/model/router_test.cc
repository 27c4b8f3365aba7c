// The router against its definition, written out with sorting in double precision.
#include "model/router.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using ::testing::ElementsAre;
using Score = RouterConfig::Score;

struct Routed {
  std::vector<uint32_t> chosen;
  std::vector<float> weights;
};

Routed run(const RouterConfig& config, const std::vector<float>& logits,
           const std::vector<float>& bias = {}) {
  Routed routed{std::vector<uint32_t>(config.used), std::vector<float>(config.used)};
  route(config, logits.data(), bias, routed.chosen.data(), routed.weights.data());
  return routed;
}

Routed by_definition(const RouterConfig& c, const std::vector<float>& logits,
                     const std::vector<float>& bias) {
  std::vector<double> scores(logits.begin(), logits.end()), selection;
  const auto softmax = [](std::vector<double> x) {
    double sum = 0;
    for (double& v : x) sum += v = std::exp(v);
    for (double& v : x) v /= sum;
    return x;
  };
  if (c.score == Score::kSoftmax) scores = softmax(scores);
  if (c.score == Score::kSigmoid)
    for (double& s : scores) s = 1 / (1 + std::exp(-s));
  selection = scores;
  for (size_t e = 0; e < bias.size(); ++e) selection[e] += bias[e];
  const auto descending = [](const std::vector<double>& values) {
    std::vector<uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return values[a] > values[b]; });
    return order;
  };
  const uint32_t size = c.experts / c.groups;
  std::vector<double> of_groups;
  for (uint32_t g = 0; g < c.groups && size > 1; ++g) {
    std::vector<double> members(selection.begin() + g * size, selection.begin() + (g + 1) * size);
    std::ranges::sort(members, std::greater());
    of_groups.push_back(members[0] + members[1]);
  }
  const auto groups = descending(of_groups);
  for (size_t i = c.groups_used; i < groups.size(); ++i)
    for (uint32_t e = 0; e < size; ++e) selection[groups[i] * size + e] = -1e300;
  Routed routed;
  routed.chosen = descending(selection);
  routed.chosen.resize(c.used);
  std::vector<double> weights;
  for (uint32_t e : routed.chosen) weights.push_back(scores[e]);
  if (c.score == Score::kSoftmaxOfChosen) weights = softmax(weights);
  const double sum = c.normalise ? std::accumulate(weights.begin(), weights.end(), 0.0) : 1;
  for (double w : weights) routed.weights.push_back(static_cast<float>(w / sum * c.scale));
  return routed;
}

TEST(Router, ChoosesAndWeighsAsDefined) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1.5f);
  for (const RouterConfig& config :
       {RouterConfig{.experts = 128, .used = 8, .normalise = true}, RouterConfig{.experts = 60, .used = 4},
        RouterConfig{.experts = 160, .used = 8, .score = Score::kSigmoid, .normalise = true, .scale = 2.5f},
        RouterConfig{.experts = 256,
        .used = 8,
        .score = Score::kSigmoid,
        .normalise = true,
        .scale = 2.5f,
        .groups = 8,
        .groups_used = 4},
        RouterConfig{.experts = 32, .used = 4, .score = Score::kSoftmaxOfChosen},
        RouterConfig{.experts = 5, .used = 5, .normalise = true}, RouterConfig{.experts = 1, .used = 1}})
    for (int i = 0; i < 200; ++i) {
      std::vector<float> logits(config.experts), bias;
      for (float& l : logits) l = normal(random);
      if (config.score == Score::kSigmoid)  // so large that it decides, and that sums are negative
        for (uint32_t e = 0; e < config.experts; ++e) bias.push_back(normal(random) - 1);
      const Routed expected = by_definition(config, logits, bias), actual = run(config, logits, bias);
      ASSERT_EQ(actual.chosen, expected.chosen);
      for (uint32_t k = 0; k < config.used; ++k)
        ASSERT_NEAR(actual.weights[k], expected.weights[k], 2e-6 * config.scale);
    }
}

TEST(Router, OfEqualsTheLowerIndexIsTaken) {
  const RouterConfig config{.experts = 6, .used = 3, .score = Score::kSoftmaxOfChosen};
  EXPECT_THAT(run(config, {1, 2, 2, 1, 2, 2}).chosen, ElementsAre(1, 2, 4));
  EXPECT_THAT(run(config, {0, 0, 0, 0, 0, 0}).chosen, ElementsAre(0, 1, 2));
}

// The error must reach the logits instead of choosing what is not there.
TEST(Router, LogitsThatAreNotNumbersGiveValidChoicesAndNoWeights) {
  for (const Score score : {Score::kSoftmax, Score::kSigmoid, Score::kSoftmaxOfChosen}) {
    const RouterConfig config{.experts = 8, .used = 3, .score = score, .normalise = true};
    std::vector<float> logits(8, std::nanf(""));
    const Routed routed = run(config, logits);
    EXPECT_THAT(routed.chosen, ElementsAre(0, 1, 2));
    for (const float w : routed.weights) EXPECT_FALSE(std::isfinite(w));
  }
}

TEST(Router, SigmoidsThatAllVanishWeighNothing) {
  const RouterConfig config{.experts = 4, .used = 2, .score = Score::kSigmoid, .normalise = true, .scale = 2};
  EXPECT_THAT(run(config, {-200, -200, -200, -200}).weights, ElementsAre(0, 0));
}

}  // namespace
}  // namespace reprise
