// Seeded simulation of scheduler, prefix cache and page pools (sched/testing/simulated_world.h): random
// arrivals, shared prefixes, growing conversations, cancels, blocked queues and failing items, over tiny and
// roomy pools, every kind of KV group, and all ways of cutting a prompt.
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sched/testing/simulated_world.h"

namespace reprise::testing {
namespace {

class Simulation : public ::testing::TestWithParam<Scenario> {};

TEST_P(Simulation, EveryRequestGetsWhatItWouldGetAlone) {
  const Scenario& scenario = GetParam();
  uint64_t preemptions = 0, hits = 0, evictions = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    World world(scenario);
    std::mt19937_64 random(seed);
    auto chance = [&](double p) { return std::uniform_real_distribution<>()(random) < p; };
    auto uniform = [&](uint64_t low, uint64_t high) {
      return std::uniform_int_distribution<uint64_t>(low, high)(random);
    };
    world.executor->failures.seed(seed);
    world.executor->failure_rate = scenario.faults ? 0.001 : 0;

    std::vector<std::vector<TokenId>> histories(3);  // what the next prompt may begin with
    for (auto& history : histories) {
      for (size_t n = uniform(5, 60); n > 0; --n)
        history.push_back(static_cast<TokenId>(uniform(0, kVocabulary - 1)));
    }
    std::set<RequestId> cancelled;
    RequestId last = 0;
    auto cancel_some = [&] {
      if (last == 0) return;
      const RequestId id = uniform(1, last);
      if (!world.sink.outcomes.contains(id) || world.sink.outcomes[id].finished) return;
      cancelled.insert(id);
      world.scheduler->cancel(id, world.now);
    };
    for (int i = 0; i < 1200; ++i) {
      if (chance(0.12)) {
        Generation g;
        const auto& history = histories[uniform(0, histories.size() - 1)];
        g.prompt.assign(history.begin(), history.begin() + static_cast<long>(uniform(0, history.size())));
        if (chance(0.5)) g.prompt = history;
        for (size_t n = uniform(1, chance(0.1) ? 120 : 12); n > 0; --n) {
          g.prompt.push_back(static_cast<TokenId>(uniform(0, kVocabulary - 1)));
        }
        g.max_tokens = static_cast<uint32_t>(uniform(1, chance(0.3) ? 60 : 20));
        g.min_tokens = static_cast<uint32_t>(chance(0.2) ? uniform(0, 5) : 0);
        if (chance(0.15)) g.prompt_logprobs = 0;
        if (chance(g.prompt_logprobs >= 0 ? 0.4 : 0.05)) g.max_tokens = g.min_tokens = 0;
        if (chance(0.5)) g.stop_tokens = {1, 2};
        g.session = uniform(0, 4);
        if (chance(0.1)) g.cache_salt = "other";
        world.add(++last, g);
      }
      if (scenario.faults && chance(0.01)) cancel_some();
      if (scenario.faults && chance(0.03) && last > 0) {
        const RequestId id = uniform(1, last);
        if (!world.sink.outcomes[id].finished) world.block(id, true);
      }
      if (chance(0.05) && !world.blocked.empty()) world.block(*world.blocked.begin(), false);
      const bool stepped = world.step([&](const Batch&) {
        if (scenario.faults && chance(0.01)) cancel_some();
      });
      for (RequestId id = 1; id <= last && !stepped; ++id) {
        EXPECT_TRUE(!world.generations.contains(id) || world.sink.outcomes[id].finished ||
                    world.blocked.contains(id))
            << "request " << id << " can run, yet nothing does";
      }
      if (chance(0.05) && last > 0) {  // a conversation goes on
        const RequestId id = uniform(1, last);
        const Outcome& outcome = world.sink.outcomes[id];
        if (outcome.finished && world.generations.contains(id)) {
          auto& history = histories[uniform(0, histories.size() - 1)];
          history = world.generations[id].prompt;
          history.insert(history.end(), outcome.tokens.begin(), outcome.tokens.end());
          if (history.size() > 120) history.resize(uniform(1, 60));
        }
      }
      if (HasFailure()) FAIL() << scenario.name << " seed " << seed << " step " << i;
    }
    world.drain();
    ASSERT_FALSE(HasFailure()) << scenario.name << " seed " << seed;

    for (const auto& [id, generation] : world.generations) {
      const Outcome& outcome = world.sink.outcomes[id];
      ASSERT_TRUE(outcome.finished) << "request " << id << " never ended";
      const Expected expected = run_alone(generation);
      const Finished& finished = *outcome.finished;
      EXPECT_TRUE(std::equal(outcome.scored.begin(), outcome.scored.end(), generation.prompt.begin() + 1));
      EXPECT_EQ(finished.prompt_tokens, generation.prompt.size());
      EXPECT_TRUE(finished.reason != FinishReason::kCancelled || cancelled.contains(id));
      EXPECT_EQ(finished.error.message, finished.reason == FinishReason::kError ? "simulated" : "");
      if (finished.reason == FinishReason::kCancelled || finished.reason == FinishReason::kError) {
        ASSERT_LE(outcome.tokens.size(), expected.tokens.size());
        EXPECT_TRUE(std::equal(outcome.tokens.begin(), outcome.tokens.end(), expected.tokens.begin()));
        ASSERT_LE(outcome.scores.size(), expected.scores.size());
        EXPECT_TRUE(std::equal(outcome.scores.begin(), outcome.scores.end(), expected.scores.begin()));
      } else {
        EXPECT_EQ(outcome.scores, expected.scores) << "request " << id;
        EXPECT_EQ(outcome.tokens, expected.tokens) << "request " << id;
        EXPECT_EQ(finished.reason, expected.reason);
        EXPECT_EQ(finished.output_tokens, expected.outputs);
      }
    }
    const Stats stats = world.scheduler->stats();
    EXPECT_EQ(stats.running + stats.waiting, 0u);
    EXPECT_EQ(stats.queued_tokens, 0u);
    preemptions += stats.preemptions;
    hits += stats.cache_hit_tokens;
    evictions += stats.evicted_pages;
    world.expect_all_pages_free_or_cached();
    ASSERT_FALSE(HasFailure()) << scenario.name << " seed " << seed;
  }
  EXPECT_GT(hits, 0u);
  if (scenario.name.find("tiny") != std::string::npos) {
    EXPECT_GT(preemptions, 0u) << "the scenario is meant to force preemption";
    EXPECT_GT(evictions, 0u);
  }
}

KvSpec spec_of(uint32_t page_tokens, std::vector<KvGroup> groups) { return {page_tokens, std::move(groups)}; }
const KvGroup kFull{KvKind::kFull, 0, 1}, kWindow{KvKind::kWindow, 20, 1}, kState{KvKind::kState, 0, 1},
    kDraft{KvKind::kDraft, 0, 1};

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  struct Shape {
    std::string name;
    KvSpec spec;
    std::vector<uint32_t> tiny, roomy;
  };
  const std::vector<Shape> shapes = {
      {"full", spec_of(8, {kFull}), {34}, {400}},
      {"full_window", spec_of(8, {kFull, kWindow}), {34, 24}, {400, 200}},
      {"full_state", spec_of(8, {kFull, kState}), {34, 9}, {400, 60}},
      {"full_draft", spec_of(8, {kFull, kDraft}), {34, 20}, {400, 400}},
      {"full_window_state_draft",
       spec_of(4, {kFull, kWindow, kState, kDraft}),
       {64, 32, 10, 40},
       {800, 100, 80, 300}},
  };
  for (const Shape& shape : shapes) {
    for (bool tiny : {true, false}) {
      const auto& pages = tiny ? shape.tiny : shape.roomy;
      const std::string name = shape.name + (tiny ? "_tiny" : "_roomy");
      all.push_back({name + "_paced", shape.spec, pages, 16});
      all.push_back({name + "_chunk1", shape.spec, pages, 1, false});
      all.push_back({name + "_chunk7_slices", shape.spec, pages, 7, false, 1});
      all.push_back({name + "_chunk64", shape.spec, pages, shape.spec.groups.size() > 1 && tiny ? 24u : 64u,
                     false, 2, 256});
      all.push_back({name + "_chunk512_quiet", shape.spec, pages,
                     shape.spec.groups.size() > 1 && tiny ? 16u : 512u, false, 0, 2048, 8, false});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Simulation, ::testing::ValuesIn(scenarios()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace reprise::testing
