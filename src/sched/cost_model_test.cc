// What the scheduler takes steps for: how fast it learns, and what moves it and what does not.
#include "sched/cost_model.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace reprise {
namespace {

// The weights of a layer count in what a budget buys: few tokens of a mixture of experts are not cheap.
TEST(CostModel, APassCostsWhateverItsTokens) {
  CostModel model(20);
  const auto prefill = [](uint32_t tokens, uint32_t layers) {
    StepWork work;
    work.add_prefill(0, tokens, layers);
    return work;
  };
  const auto truth = [](double tokens, double layers) {
    return static_cast<Nanos>(layers * (8e6 + 0.4e6 * tokens));
  };
  for (int i = 0; i < 100; ++i) model.observe(prefill(400, 1), truth(400, 1));
  for (const auto& [tokens, layers] : {std::pair{30u, 1u}, {100u, 2u}, {400u, 8u}})
    EXPECT_NEAR(model.prefill_ns(prefill(tokens, layers)) / static_cast<double>(truth(tokens, layers)), 1,
                0.05);
  EXPECT_NEAR(model.pass_ns(false), 8e6, 0.4e6);
}

TEST(CostModel, LearnsBothPartsOfMixedSteps) {
  CostModel model;
  std::mt19937_64 random(3);
  auto truth = [](const StepWork& w) {  // beside decodes, prefill takes 1.8 times as long
    return (w.decode_rows ? 9e6 : 0) + 2e6 * w.decode_rows +
           (w.decode_rows ? 180e3 : 100e3) * w.prefill_token_layers;
  };
  for (int i = 0; i < 400; ++i) {
    StepWork work;
    for (uint64_t rows = random() % 5; rows > 0; --rows) work.add_decode(100);
    if (random() % 2) work.add_prefill(0, 100 + random() % 400, 1 + random() % 3);
    model.observe(work, static_cast<Nanos>(truth(work)));
  }
  StepWork decode;
  for (int i = 0; i < 3; ++i) decode.add_decode(100);
  EXPECT_NEAR(model.decode_ns(decode) / truth(decode), 1, 0.15);
  StepWork prefill;
  prefill.add_prefill(0, 300, 2);
  EXPECT_NEAR(model.prefill_ns(prefill) / truth(prefill), 1, 0.15);
  StepWork both = decode;
  both.add_prefill(0, 300, 2);
  EXPECT_NEAR((model.decode_ns(both) + model.prefill_ns(both)) / truth(both), 1, 0.1);
  EXPECT_NEAR(model.prefill_ns(both) / model.prefill_ns(prefill), 1.8, 0.3);
}

StepWork decode_work(int rows) {
  StepWork work;
  for (int i = 0; i < rows; ++i) work.add_decode(1000);
  return work;
}

StepWork mixed_work(int rows, uint32_t tokens) {
  StepWork work = decode_work(rows);
  work.add_prefill(0, tokens, 1);
  return work;
}

TEST(CostModel, AHandfulOfStepsTeachesAnyMachine) {
  for (const double factor : {0.05, 0.1, 10.0, 50.0}) {
    CostModel model;
    const double truth = factor * model.decode_ns(decode_work(4));
    model.observe(decode_work(4), static_cast<Nanos>(100 * truth));  // cold memory
    for (int i = 0; i < 3; ++i) model.observe(decode_work(4), static_cast<Nanos>(truth));
    EXPECT_NEAR(model.decode_ns(decode_work(4)) / truth, 1, 0.1) << factor;
    const double slice = 3 * truth;
    for (int i = 0; i < 3; ++i) model.observe(mixed_work(4, 256), static_cast<Nanos>(truth + slice));
    EXPECT_NEAR(model.prefill_ns(mixed_work(4, 256)) / slice, 1, 0.1) << factor;
    EXPECT_NEAR(model.decode_ns(decode_work(4)) / truth, 1, 0.1) << factor;
  }
}

TEST(CostModel, ManyRowsAreNotTakenForSoManyTimesAFew) {
  CostModel model;
  const auto truth = [](int rows) { return static_cast<Nanos>(60e6 + 1e6 * rows); };
  for (int i = 0; i < 200; ++i) model.observe(decode_work(4), truth(4));
  EXPECT_LT(model.decode_ns(decode_work(32)), 2.5 * truth(32));
  EXPECT_TRUE(model.wants_decode_alone(32, 5)) << "as these rows are new";
  EXPECT_FALSE(model.wants_decode_alone(32, 4));
  EXPECT_FALSE(model.wants_decode_alone(5, 5));
  for (int i = 0; i < 8; ++i) model.observe(decode_work(32), truth(32));
  EXPECT_NEAR(model.decode_ns(decode_work(32)) / static_cast<double>(truth(32)), 1, 0.3);
}

TEST(CostModel, StepsOfDecodeAloneComeSoonWhileTheySurprise) {
  CostModel model;
  EXPECT_TRUE(model.wants_decode_alone(4, 0)) << "nothing is known";
  const auto most_mixed = [&] {
    uint32_t steps = 0;
    while (!model.wants_decode_alone(4, steps)) ++steps;
    return steps;
  };
  const auto truth = static_cast<double>(30 * kMillisecond);
  for (int i = 0; i < 20; ++i) model.observe(decode_work(4), static_cast<Nanos>(truth));
  EXPECT_EQ(most_mixed(), 40u);
  for (int i = 0; i < 3; ++i) model.observe(decode_work(4), static_cast<Nanos>(3 * truth));
  EXPECT_LE(most_mixed(), 10u);
  // Noise alone costs few steps.
  std::mt19937_64 random(1);
  std::normal_distribution<> noise(0, 0.15);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    model.observe(decode_work(4), static_cast<Nanos>(truth * std::exp(noise(random))));
    sum += most_mixed();
  }
  EXPECT_GT(sum / 1000, 25);
}

// Another process comes or goes: the budget follows within seconds, whichever way.
TEST(CostModel, AMachineThatChangesItsSpeedIsFollowed) {
  for (const double factor : {1.0 / 3, 3.0}) {
    CostModel model;
    uint32_t since = 0;
    double now = 1, latency = 0;
    const auto step = [&] {  // as the scheduler would
      const double decode = now * 20e6, token = now * 0.2e6;
      if (model.wants_decode_alone(4, since)) {
        since = 0;
        model.observe(decode_work(4), static_cast<Nanos>(decode));
        return;
      }
      ++since;
      const double budget = 2 * model.decode_ns(decode_work(4));
      const auto slice = static_cast<uint32_t>(budget / model.token_layer_ns(0, true));
      const StepWork work = mixed_work(4, std::max(1u, slice));
      const double took = decode + token * std::max(1u, slice);
      latency = took / decode;
      model.observe(work, static_cast<Nanos>(took));
    };
    for (int i = 0; i < 2000; ++i) step();
    EXPECT_NEAR(latency, 3, 0.1);
    now = factor;
    for (int i = 0; i < 60; ++i) step();
    EXPECT_LT(latency, 4) << factor;
    EXPECT_GT(latency, 1.6) << factor;
    for (int i = 0; i < 300; ++i) step();
    EXPECT_NEAR(latency, 3, 0.3) << factor;
  }
}

// What a noisy machine does to a step must not decide the next ones.
TEST(CostModel, AnOutlierMovesLittleAndABadStartIsForgotten) {
  StepWork decode, prefill;
  for (int i = 0; i < 4; ++i) decode.add_decode(1000);
  prefill.add_prefill(0, 256, 2);
  const auto truth = [](const StepWork& w) {
    return static_cast<Nanos>((w.decode_rows ? 5e6 : 0) + 1e6 * static_cast<double>(w.decode_rows) +
                              33e3 * w.prefill_token_layers);
  };
  const auto teach = [&](CostModel& model, int steps) {
    for (int i = 0; i < steps; ++i) {
      model.observe(decode, truth(decode));
      model.observe(prefill, truth(prefill));
    }
  };
  CostModel model;
  teach(model, 100);
  const double decode_before = model.decode_ns(decode), prefill_before = model.prefill_ns(prefill);
  EXPECT_NEAR(decode_before / truth(decode), 1, 0.05);
  for (const int factor : {10, 1000}) {
    CostModel shocked = model;
    shocked.observe(decode, factor * truth(decode));
    teach(shocked, 1);
    shocked.observe(prefill, factor * truth(prefill));
    EXPECT_LT(shocked.decode_ns(decode), 1.15 * decode_before);
    EXPECT_LT(shocked.prefill_ns(prefill), 1.15 * prefill_before);
  }
  CostModel slow_start;  // the first steps touch cold memory
  for (int i = 0; i < 4; ++i) {
    slow_start.observe(decode, 20 * truth(decode));
    slow_start.observe(prefill, 20 * truth(prefill));
  }
  teach(slow_start, 120);
  EXPECT_NEAR(slow_start.decode_ns(decode) / truth(decode), 1, 0.1);
  EXPECT_NEAR(slow_start.prefill_ns(prefill) / truth(prefill), 1, 0.1);
}

}  // namespace
}  // namespace reprise
