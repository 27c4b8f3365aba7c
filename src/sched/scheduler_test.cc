#include "sched/scheduler.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "sched/session_ledger.h"
#include "sched/testing/simulated_world.h"

namespace reprise::testing {
namespace {

Scenario small(uint32_t pages = 400) {
  return {"small", {8, {{KvKind::kFull, 0, 1}}}, {pages}, 64, true, 0, 256, 32, false};
}

// With the limits that a server has by default.
Scenario as_served(uint32_t pages, uint32_t layers) {
  Scenario scenario = small(pages);
  scenario.spec.page_tokens = 32;
  scenario.layers = layers;
  scenario.chunk = 512;
  scenario.max_rows = 1024;
  scenario.longest_step = 250 * kMillisecond;
  return scenario;
}

std::vector<TokenId> tokens(size_t count, uint64_t seed) {
  std::vector<TokenId> result;
  std::mt19937_64 random(seed);
  while (result.size() < count) result.push_back(static_cast<TokenId>(random() % kVocabulary));
  return result;
}
Generation generation(std::vector<TokenId> prompt, uint32_t max_tokens, uint64_t session = 0) {
  Generation g;
  g.prompt = std::move(prompt);
  g.max_tokens = max_tokens;
  g.session = session;
  return g;
}

TEST(Scheduler, RefusesWhatCanNeverRun) {
  World world(small(10));
  auto refuse = [&](Generation g) { return world.scheduler->add(99, std::move(g), 0); };
  EXPECT_EQ(refuse(generation({}, 1)).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refuse(generation(tokens(80, 1), 2)).error().kind, ErrorKind::kTooLarge);
  EXPECT_TRUE(world.scheduler->idle());
  EXPECT_TRUE(world.add(1, generation(tokens(80, 1), 1))) << "exactly all pages";
  world.drain();
  EXPECT_EQ(world.sink.outcomes[1].finished->reason, FinishReason::kLength);
}

TEST(Scheduler, CancelEndsWithinTheStepAlsoInTheMiddleOfLayers) {
  Scenario scenario = small();
  scenario.slice_layers = 1;
  World world(scenario);
  world.add(1, generation(tokens(30, 1), 5));
  world.add(2, generation(tokens(30, 2), 5));
  EXPECT_TRUE(world.step());
  EXPECT_EQ(world.executor->open_chunks(), 2u);
  world.scheduler->cancel(1, world.now);  // not in flight: now
  EXPECT_EQ(world.sink.outcomes[1].finished->reason, FinishReason::kCancelled);
  world.step([&](const Batch& batch) {
    EXPECT_EQ(batch.abandoned, std::vector<RequestId>{1});
    world.scheduler->cancel(2, world.now);
    EXPECT_FALSE(world.sink.outcomes[2].finished) << "its pages are being written";
  });
  EXPECT_EQ(world.sink.outcomes[2].finished->reason, FinishReason::kCancelled);
  world.expect_all_pages_free_or_cached();
}

// A recurrent state is overwritten in place, layer by layer: half-done it is the state of no position.
TEST(Scheduler, AHalfOverwrittenStateIsNotKept) {
  Scenario scenario = small();
  scenario.spec.groups.push_back({KvKind::kState, 0, 1});
  scenario.pages = {40, 10};
  scenario.chunk = 4;
  scenario.pace = false;
  scenario.slice_layers = 1;
  World world(scenario);
  world.add(1, generation(tokens(30, 1), 5));
  for (int i = 0; i < 4; ++i) world.step();  // three layers of the first chunk, one of the second
  world.scheduler->cancel(1, world.now);
  world.add(2, generation(tokens(30, 1), 5));
  world.drain();
  EXPECT_EQ(world.sink.outcomes[2].tokens, run_alone(world.generations[2]).tokens);
  world.expect_all_pages_free_or_cached();
}

TEST(Scheduler, AFailedItemEndsOnlyItsSequence) {
  World world(small());
  world.add(1, generation(tokens(5, 1), 8));
  world.add(2, generation(tokens(5, 2), 8));
  world.step();
  Batch batch = world.scheduler->plan(world.now);
  ASSERT_EQ(batch.items.size(), 2u);
  StepResult result = world.executor->wait(world.executor->launch(batch));
  result.items[0] = fail(ErrorKind::kInternal, "not finite");
  world.scheduler->commit(result, world.now);
  const RequestId failed = batch.items[0].sequence;
  EXPECT_EQ(world.sink.outcomes[failed].finished->reason, FinishReason::kError);
  EXPECT_EQ(world.sink.outcomes[failed].finished->error.message, "not finite");
  world.drain();
  EXPECT_EQ(world.sink.outcomes[3 - failed].finished->reason, FinishReason::kLength);
  world.expect_all_pages_free_or_cached();
}

TEST(Scheduler, StopTokensAreCountedNotEmittedAndBannedBeforeMinTokens) {
  for (uint32_t min_tokens : {0u, 4u}) {
    World world(small());
    Generation g = generation(tokens(9, 3), 30);
    const Expected free_running = run_alone(g);
    g.stop_tokens = {free_running.tokens[2]};  // would be the third
    g.min_tokens = min_tokens;
    const Expected expected = run_alone(g);
    world.add(1, g);
    world.drain();
    const Outcome& outcome = world.sink.outcomes[1];
    EXPECT_EQ(outcome.tokens, expected.tokens);
    EXPECT_EQ(outcome.finished->output_tokens, expected.outputs);
    EXPECT_EQ(outcome.finished->reason, expected.reason);
    if (min_tokens == 0) {
      EXPECT_EQ(outcome.tokens.size(), 2u);
      EXPECT_EQ(outcome.finished->output_tokens, 3u);
    } else {
      EXPECT_GE(outcome.tokens.size(), 4u);
    }
  }
}

TEST(Scheduler, TimesAddUp) {
  World world(small());
  world.now = kSecond;
  world.add(1, generation(tokens(40, 1), 5));
  world.now = 2 * kSecond;
  world.drain();
  const Finished& finished = *world.sink.outcomes[1].finished;
  EXPECT_EQ(finished.queued, kSecond);
  EXPECT_GT(finished.prefill, 0);
  EXPECT_GT(finished.decode, 0);
  EXPECT_EQ(finished.queued + finished.prefill + finished.decode, world.now - kSecond);
}

TEST(Scheduler, ASharedPrefixIsComputedOnceByConcurrentRequests) {
  World world(small());
  const std::vector<TokenId> system = tokens(160, 7);
  for (RequestId id = 1; id <= 8; ++id) {
    std::vector<TokenId> prompt = system;
    std::ranges::copy(tokens(11, 100 + id), std::back_inserter(prompt));
    world.add(id, generation(prompt, 4, id));
  }
  world.drain();
  EXPECT_GE(world.scheduler->stats().prefill_tokens, 160u);
  EXPECT_LE(world.scheduler->stats().prefill_tokens, 160u + 8 * 11);
  for (RequestId id = 1; id <= 8; ++id) {
    EXPECT_EQ(world.sink.outcomes[id].tokens, run_alone(world.generations[id]).tokens);
  }
}

TEST(Scheduler, AnIdenticalPromptComputesOnlyItsLastToken) {
  World world(small());
  const std::vector<TokenId> prompt = tokens(100, 7);  // ends inside a page
  world.add(1, generation(prompt, 4));
  world.drain();
  const uint64_t before = world.scheduler->stats().prefill_tokens;
  for (RequestId id = 2; id <= 5; ++id) world.add(id, generation(prompt, 4));
  Batch batch = world.scheduler->plan(world.now);
  ASSERT_EQ(batch.items.size(), 4u) << "all in one step, none waits for another";
  for (const BatchItem& item : batch.items) EXPECT_EQ(item.end - item.begin, 1u);
  EXPECT_EQ(batch.copies.size(), 4u) << "each writes on in a page of its own";
  world.scheduler->commit(world.executor->wait(world.executor->launch(batch)), world.now);
  world.drain();
  EXPECT_EQ(world.scheduler->stats().prefill_tokens - before, 4u);
  for (RequestId id = 1; id <= 5; ++id)
    EXPECT_EQ(world.sink.outcomes[id].tokens, run_alone(world.generations[id]).tokens);
  world.expect_all_pages_free_or_cached();
}

// Times as measured for a small model on two cores: decode reads the weights once, prefill is bound by
// arithmetic.
Nanos realistic(const Batch& batch, std::mt19937_64& random) {
  double ms = 0;
  bool decodes = false;
  for (const BatchItem& item : batch.items) {
    const double tokens = item.end - item.begin, layers = item.layer_end - item.layer_begin;
    if (tokens == 1) {
      decodes = true;
      ms += 1.0 + item.begin * 0.0008;
    } else {
      ms += 0.3 + tokens * layers * 0.033 * (1 + item.begin / 4000.0) * (1 + 12.0 / tokens);
    }
  }
  if (decodes) ms += 4.5;
  return static_cast<Nanos>(ms * kMillisecond * std::uniform_real_distribution<>(0.92, 1.12)(random));
}

// The turns of several sessions as a coding agent sends them: their prefixes are cached, others decode.
TEST(Scheduler, WarmTurnsStartAtOnceInOneStepWithTheDecodes) {
  Scenario scenario = small();
  scenario.longest_step = 250 * kMillisecond;
  World world(scenario);
  std::mt19937_64 random(1);
  world.executor->duration = [&](const Batch& batch) { return realistic(batch, random); };
  std::vector<std::vector<TokenId>> prompts;
  for (RequestId id = 1; id <= 3; ++id) {
    prompts.push_back(tokens(200, id));
    world.add(id, generation(prompts.back(), 1, id));
  }
  world.drain();
  world.add(10, generation(tokens(20, 10), 300, 10));
  while (world.sink.outcomes[10].tokens.size() < 5) world.step();
  for (RequestId id = 1; id <= 3; ++id) {
    std::ranges::copy(tokens(9, 100 + id), std::back_inserter(prompts[id - 1]));
    world.add(20 + id, generation(prompts[id - 1], 4, id));
  }
  world.step([&](const Batch& batch) {
    ASSERT_EQ(batch.items.size(), 4u);
    EXPECT_EQ(batch.items[0].sequence, 10u) << "the decode goes on";
    for (size_t i = 1; i < 4; ++i) EXPECT_EQ(batch.items[i].begin, 200u) << "only what is new";
  });
  world.drain();
}

TEST(Scheduler, AFollowerDoesNotWaitForABlockedLeader) {
  World world(small());
  std::vector<TokenId> prompt = tokens(300, 7);
  world.add(1, generation(prompt, 4));
  world.step();
  world.block(1, true);
  prompt.push_back(5);
  world.add(2, generation(prompt, 4));
  for (int i = 0; i < 200 && !world.sink.outcomes[2].finished; ++i) ASSERT_TRUE(world.step());
  EXPECT_TRUE(world.sink.outcomes[2].finished);
}

TEST(Scheduler, AConversationFindsItsLastTurnInTheCacheToTheToken) {
  World world(small());
  std::vector<TokenId> prompt = tokens(61, 1);
  for (RequestId id = 1; id <= 5; ++id) {
    const size_t known = id == 1 ? 0 : prompt.size() - 1;  // the last sampled token was never computed
    std::ranges::copy(tokens(13, 10 + id), std::back_inserter(prompt));
    world.add(id, generation(prompt, 9));
    world.drain();
    EXPECT_EQ(world.sink.outcomes[id].finished->cached_tokens, known);
    std::ranges::copy(world.sink.outcomes[id].tokens, std::back_inserter(prompt));
  }
}

TEST(Scheduler, PreemptsTheLatestAndLosesNothing) {
  World world(small(16));  // 128 tokens
  for (RequestId id = 1; id <= 3; ++id) world.add(id, generation(tokens(20, id), 70));
  world.drain();
  EXPECT_GT(world.scheduler->stats().preemptions, 0u);
  EXPECT_EQ(world.sink.outcomes[1].finished->preemptions, 0u) << "the first is never preempted";
  for (RequestId id = 1; id <= 3; ++id) {
    EXPECT_EQ(world.sink.outcomes[id].tokens, run_alone(world.generations[id]).tokens);
  }
  world.expect_all_pages_free_or_cached();
}

TEST(Scheduler, BlockedSequencesGiveUpTheirPages) {
  World world(small(16));
  world.add(1, generation(tokens(90, 1), 10));
  for (int i = 0; i < 4; ++i) world.step();
  world.block(1, true);
  world.add(2, generation(tokens(90, 2), 10));
  for (int i = 0; i < 100 && !world.sink.outcomes[2].finished; ++i) ASSERT_TRUE(world.step());
  EXPECT_TRUE(world.sink.outcomes[2].finished);
  EXPECT_FALSE(world.step()) << "only the blocked one is left";
  world.drain();
  EXPECT_EQ(world.sink.outcomes[1].finished->preemptions, 1u);
  EXPECT_EQ(world.sink.outcomes[1].tokens, run_alone(world.generations[1]).tokens);
}

TEST(Scheduler, AGreedySessionDoesNotDelayAnother) {
  Scenario scenario = small(2000);
  scenario.max_running = 4;
  World world(scenario);
  for (RequestId id = 1; id <= 40; ++id) world.add(id, generation(tokens(100, id), 10, 1));
  for (int i = 0; i < 40; ++i) world.step();
  world.add(41, generation(tokens(110, 41), 10, 2));  // longer than what waits
  const Nanos arrived = world.now;
  world.drain();
  auto rank = std::ranges::count_if(world.sink.outcomes, [&](const auto& each) {
    return each.second.first_at > arrived && each.second.first_at < world.sink.outcomes[41].first_at;
  });
  EXPECT_LE(rank, 8) << "of about 30 that were before it";
}

// A long prompt beside short ones that never stop coming: it waits no longer than ageing allows.
TEST(Scheduler, ALongPromptIsNotStarvedByShortOnes) {
  Scenario scenario = small(4000);
  scenario.max_running = 8;
  World world(scenario);
  world.add(1, generation(tokens(3000, 1), 1));
  RequestId last = 1;
  for (int i = 0; i < 100'000 && !world.sink.outcomes[1].finished; ++i) {
    while (world.scheduler->stats().waiting < 4) {  // more than can be served
      ++last;
      world.add(last, generation(tokens(40, last), 3));
    }
    // The checks of World::step cost more than the simulation.
    Batch batch = world.scheduler->plan(world.now);
    StepResult result = world.executor->wait(world.executor->launch(batch));
    world.now += result.elapsed;
    world.sink.clock = world.now;
    world.scheduler->commit(result, world.now);
  }
  ASSERT_TRUE(world.sink.outcomes[1].finished);
  // 3000 tokens x 3 layers x 50 us = 0.45 s alone; ageing pays off at least 64 tokens a second.
  EXPECT_LT(world.sink.outcomes[1].first_at, 3000 / 64 * kSecond);
  EXPECT_GT(last, 20u) << "the short ones were served meanwhile";
}

// The same of a mixture of experts (qwen3moe-2b of the benchmarks): a few decodes touch as many experts as
// they choose, a prefill item all of a layer's.
Nanos realistic_moe(const Batch& batch, std::mt19937_64& random) {
  constexpr double kPassMs = 7.5, kTokenLayerMs = 0.4, kShareOfExperts = 1.0 / 8;
  double ms = 0.2, untouched = 1;
  for (const BatchItem& item : batch.items) {
    const double tokens = item.end - item.begin, layers = item.layer_end - item.layer_begin;
    if (item.end - item.begin == 1 && item.begin >= item.prompt_size) {
      untouched *= 1 - kShareOfExperts;
      ms += item.begin * 0.002;
    } else {
      ms += layers * (kPassMs + tokens * kTokenLayerMs * (1 + item.begin / 12000.0));
    }
  }
  if (untouched < 1) ms += 5 + 8 * kPassMs * (1 - untouched);
  return static_cast<Nanos>(ms * kMillisecond * std::uniform_real_distribution<>(0.92, 1.12)(random));
}

struct BothSpeeds {
  double latency;  // p99 between the tokens of 4 streams, times that without the prompt
  double speed;    // of the prompt, as a share of that without the streams
};

BothSpeeds long_prompt_beside_streams(const Scenario& scenario, uint32_t prompt_tokens,
                                      Nanos (*duration)(const Batch&, std::mt19937_64&)) {
  struct Run {
    std::vector<double> gaps;  // between a stream's tokens, from the prompt's arrival on
    double seconds = 0;        // the prompt's
    double p99() {
      std::ranges::sort(gaps);
      return gaps[gaps.size() * 99 / 100];
    }
  };
  // `steps` bounds a run without the prompt.
  auto run = [&](int streams, bool prompt, size_t steps) {
    World world(scenario);
    std::mt19937_64 random(1);
    world.executor->duration = [&](const Batch& batch) { return duration(batch, random); };
    for (int id = 1; id <= streams; ++id) world.add(id, generation(tokens(200, id), 3000));
    auto step = [&] {
      Batch batch = world.scheduler->plan(world.now);
      StepResult result = world.executor->wait(world.executor->launch(batch));
      world.now += result.elapsed;
      world.scheduler->commit(result, world.now);
      return to_seconds(result.elapsed);
    };
    while (world.scheduler->stats().queued_tokens > 0) step();
    for (int i = 0; i < 50 && streams > 0; ++i) step();
    Run result;
    const Nanos arrived = world.now;
    if (prompt) world.add(100, generation(tokens(prompt_tokens, 100), 1));
    while (prompt ? !world.sink.outcomes[100].finished : result.gaps.size() < steps)
      result.gaps.push_back(step());
    result.seconds = to_seconds(world.now - arrived);
    return result;
  };
  Run both = run(4, true, 0), prompt_alone = run(0, true, 0);
  Run streams_alone = run(4, false, both.gaps.size());  // the same tokens
  const BothSpeeds speeds{both.p99() / streams_alone.p99(), prompt_alone.seconds / both.seconds};
  std::printf("ITL p99 %.2f times, prompt at %.0f %% of its speed\n", speeds.latency, 100 * speeds.speed);
  return speeds;
}

TEST(Scheduler, ALongPromptBesideRunningStreamsKeepsBothSpeeds) {
  Scenario scenario = as_served(1000, 30);
  for (const double pass_tokens : {0.0, 4.4, 14.0}) {  // of 4-bit weights, of 16-bit ones
    scenario.pass_tokens = pass_tokens;
    const BothSpeeds dense = long_prompt_beside_streams(scenario, 7000, realistic);
    EXPECT_LE(dense.latency, 3.0) << pass_tokens;
    EXPECT_GE(dense.speed, 0.6) << pass_tokens;
  }
  scenario.layers = 8;
  scenario.sparse = true;
  scenario.pass_tokens = 22;  // off the truth, as on any machine
  const BothSpeeds moe = long_prompt_beside_streams(scenario, 4000, realistic_moe);
  EXPECT_LE(moe.latency, 4.0);
  EXPECT_GE(moe.speed, 0.6);
}

// Prompts that come together to a server that knows nothing of the machine: what it takes decode for decides
// their pace.
TEST(Scheduler, TheFirstPromptsOfAServerArePacedRight) {
  Scenario scenario = as_served(2000, 8);
  scenario.pass_tokens = 22;
  scenario.sparse = true;
  World world(scenario);
  std::mt19937_64 random(1);
  world.executor->duration = [&](const Batch& batch) { return realistic_moe(batch, random); };
  for (int id = 1; id <= 4; ++id) world.add(id, generation(tokens(200, id), 3000));
  world.add(100, generation(tokens(3000, 100), 1));
  Nanos mixed = 0;
  int mixed_steps = 0;
  while (!world.sink.outcomes[100].finished) {
    Batch batch = world.scheduler->plan(world.now);
    StepResult result = world.executor->wait(world.executor->launch(batch));
    world.now += result.elapsed;
    world.scheduler->commit(result, world.now);
    const auto decodes = std::ranges::count_if(
        batch.items, [](const BatchItem& item) { return item.begin >= item.prompt_size; });
    if (decodes < 4 || std::cmp_equal(decodes, batch.items.size())) continue;
    mixed += result.elapsed;
    ++mixed_steps;
  }
  // Four decodes take 31 ms, which makes 3.4 times as much.
  ASSERT_GT(mixed_steps, 20);
  EXPECT_NEAR(to_seconds(mixed) / mixed_steps, 3.4 * 0.031, 0.015);
}

TEST(SessionLedger, IdlingEarnsNoCredit) {
  SessionLedger ledger;
  const auto a = SessionLedger::key(1, 10), b = SessionLedger::key(2, 20), none = SessionLedger::key(3, 0);
  ledger.enter(a);
  ledger.charge(a, 500);
  ledger.enter(b);
  EXPECT_EQ(ledger.served(b), 500u);
  ledger.enter(none);
  ledger.charge(none, 7);
  ledger.leave(none);
  ledger.leave(a);
  ledger.charge(b, 100);
  ledger.enter(a);
  EXPECT_EQ(ledger.served(a), 600u);
  EXPECT_EQ(ledger.active(), 2u);
}

TEST(SessionLedger, ForgetsInTheLongRun) {
  SessionLedger ledger;
  const auto kept = SessionLedger::key(1, 1);
  ledger.enter(kept);
  ledger.charge(kept, 100);
  for (uint64_t i = 2; i < 3 * SessionLedger::kMostRemembered; ++i) {
    const auto session = SessionLedger::key(i, i), none = SessionLedger::key(i, 0);
    for (const auto& key : {session, none}) {
      ledger.enter(key);
      ledger.charge(key, 10);
      ledger.leave(key);
    }
    ASSERT_LE(ledger.remembered(), SessionLedger::kMostRemembered);
    ASSERT_EQ(ledger.active(), 1u);
  }
  EXPECT_EQ(ledger.served(kept), 100u) << "the active one is not forgotten";
}

}  // namespace
}  // namespace reprise::testing
