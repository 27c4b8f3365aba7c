// The life of requests: what is refused, how each ends, what slow readers, cancels, draining and stopping do.
#include "engine/engine.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "engine/model_executor.h"
#include "engine/testing/hash_model.h"
#include "engine/testing/reader.h"

namespace reprise {
namespace {
using namespace reprise::testing;

// Lets through as many batches as are allowed.
class GatedExecutor final : public Executor {
 public:
  explicit GatedExecutor(std::unique_ptr<Executor> inner) : inner_(std::move(inner)) {}
  void allow(uint64_t batches) {
    std::lock_guard lock(mutex_);
    allowed_ = batches;
    changed_.notify_all();
  }
  void open() { allow(~uint64_t{0}); }
  void close() { allow(0); }
  // Sleeps until a batch waits for leave.
  void await_step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ && allowed_ == 0; });
  }

  Ticket launch(const Batch& batch) override { return inner_->launch(batch); }
  StepResult wait(Ticket ticket) override {
    {
      std::unique_lock lock(mutex_);
      waiting_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return allowed_ > 0; });
      waiting_ = false;
      --allowed_;
    }
    return inner_->wait(ticket);
  }
  uint32_t layers() const override { return inner_->layers(); }
  const KvSpec& kv_spec() const override { return inner_->kv_spec(); }
  uint32_t pages(uint32_t group) const override { return inner_->pages(group); }

 private:
  std::unique_ptr<Executor> inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t allowed_ = ~uint64_t{0};
  bool waiting_ = false;
};

// A batch takes at least `step` on the clock.
class TimedExecutor final : public Executor {
 public:
  TimedExecutor(std::unique_ptr<Executor> inner, Nanos step) : inner_(std::move(inner)), step_(step) {}
  Ticket launch(const Batch& batch) override {
    launched_ = now();
    return inner_->launch(batch);
  }
  StepResult wait(Ticket ticket) override {
    StepResult result = inner_->wait(ticket);
    while (now() < launched_ + step_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    result.elapsed = now() - launched_;
    return result;
  }
  uint32_t layers() const override { return inner_->layers(); }
  const KvSpec& kv_spec() const override { return inner_->kv_spec(); }
  uint32_t pages(uint32_t group) const override { return inner_->pages(group); }

 private:
  std::unique_ptr<Executor> inner_;
  const Nanos step_;
  Nanos launched_ = 0;
};

class EngineTest : public ::testing::Test {
 protected:
  static constexpr HashModelOptions kModel{.vocabulary = 97, .page_tokens = 16, .context = 600, .poison = 96};

  void start(EngineConfig config = {}, uint32_t pages = 100) {
    auto model = std::make_unique<HashModel>(kModel);
    const Limits limits = derive_limits(config, *model, pages);
    auto gated =
        std::make_unique<GatedExecutor>(std::make_unique<ModelExecutor>(std::move(model), pool, pages));
    gate = gated.get();
    engine = std::make_unique<Engine>(std::move(gated), limits, config, 1);
  }
  static Generation generation(uint32_t seed, uint32_t prompt_size = 20, uint32_t max_tokens = 10) {
    Generation g;
    for (uint32_t i = 0; i < prompt_size; ++i)
      g.prompt.push_back(static_cast<TokenId>((seed * 13 + i * 5) % 90));
    g.sampling.temperature = 0;
    g.sampling.logit_bias = {{kModel.poison, -100.0f}};  // never drawn: only prompts hold it
    g.max_tokens = max_tokens;
    return g;
  }
  static std::vector<TokenId> expected(const Generation& g) {
    HashModel model(kModel);
    return compute_alone(model, g);
  }
  Stream submit(Generation g) {
    auto stream = engine->submit(std::move(g));
    EXPECT_TRUE(stream) << stream.error().message;
    return *std::move(stream);
  }
  ErrorKind refusal(Generation g) {
    const auto stream = engine->submit(std::move(g));
    EXPECT_FALSE(stream);
    EXPECT_FALSE(stream.error().message.empty());
    return stream ? ErrorKind::kInternal : stream.error().kind;
  }
  // Stops the engine (which checks the scheduler's and the cache's invariants) and accounts for every page.
  void stop_and_count_pages() {
    engine->stop();
    const Stats stats = engine->stats();
    EXPECT_EQ(stats.pages_free + stats.pages_cached, stats.pages_total);
    EXPECT_EQ(stats.running, 0u);
    EXPECT_EQ(stats.waiting, 0u);
  }

  TaskPool pool{2, /*pin=*/false};
  GatedExecutor* gate = nullptr;
  std::unique_ptr<Engine> engine;
};

TEST_F(EngineTest, AnswersOneRequest) {
  start();
  const Generation g = generation(1, 40, 12);
  const Outcome outcome = read_all(*submit(g).events);
  EXPECT_EQ(outcome.tokens, expected(g));
  EXPECT_EQ(outcome.finished.reason, FinishReason::kLength);
  EXPECT_EQ(outcome.finished.prompt_tokens, 40u);
  EXPECT_EQ(outcome.finished.output_tokens, 12u);
  EXPECT_EQ(outcome.finished.cached_tokens, 0u);
  EXPECT_GT(outcome.finished.prefill, 0);

  const Outcome again = read_all(*submit(g).events);
  EXPECT_EQ(again.tokens, outcome.tokens);
  EXPECT_GE(again.finished.cached_tokens, 32u) << "at least the whole pages come from the cache";
  stop_and_count_pages();
}

// The times in Finished are those of the steps: prefill holds the step that made the first token, decode one
// step for each later one, and all of it lies between submit and Finished. Lower bounds only, and one upper
// bound that holds whatever the machine does.
TEST_F(EngineTest, TimesAreThoseOfTheSteps) {
  constexpr Nanos kStep = 5 * kMillisecond;
  const EngineConfig config;
  auto model = std::make_unique<HashModel>(kModel);
  const Limits limits = derive_limits(config, *model, 100);
  auto executor = std::make_unique<ModelExecutor>(std::move(model), pool, 100);
  engine = std::make_unique<Engine>(std::make_unique<TimedExecutor>(std::move(executor), kStep), limits,
                                    config, 1);
  for (uint32_t max_tokens : {1u, 12u}) {
    const Nanos before = now();
    const Outcome outcome = read_all(*submit(generation(max_tokens, 40, max_tokens)).events);
    const Nanos whole = now() - before;
    EXPECT_GE(outcome.finished.queued, 0);
    EXPECT_GE(outcome.finished.prefill, kStep) << "the step that computes the prompt is part of it";
    EXPECT_GE(outcome.finished.decode, (max_tokens - 1) * kStep);
    EXPECT_LE(outcome.finished.queued + outcome.finished.prefill + outcome.finished.decode, whole);
  }
  stop_and_count_pages();
}

TEST_F(EngineTest, StopTokensEndAndAreNotEmitted) {
  start();
  Generation g = generation(2, 20, 30);
  const std::vector<TokenId> free_run = expected(g);
  g.stop_tokens = {free_run[5]};
  const std::vector<TokenId> cut = expected(g);
  ASSERT_LE(cut.size(), 5u);
  const Outcome outcome = read_all(*submit(g).events);
  EXPECT_EQ(outcome.tokens, cut);
  EXPECT_EQ(outcome.finished.reason, FinishReason::kStop);
  EXPECT_EQ(outcome.finished.output_tokens, cut.size() + 1);

  g.min_tokens = 20;
  const std::vector<TokenId> longer = expected(g);
  ASSERT_GE(longer.size(), 20u);
  EXPECT_EQ(read_all(*submit(g).events).tokens, longer);
}

TEST_F(EngineTest, NoTokensAskedForMeansThePromptAlone) {
  start();
  Generation prompt = generation(1, 40, 0);
  const Outcome outcome = read_all(*submit(prompt).events);
  EXPECT_EQ(outcome.finished.reason, FinishReason::kLength);
  EXPECT_TRUE(outcome.tokens.empty() && outcome.scores.empty());
  EXPECT_EQ(outcome.finished.output_tokens, 0u);

  Generation g = generation(1, 40, 12);
  const Outcome after = read_all(*submit(g).events);
  EXPECT_EQ(after.tokens, expected(g));
  EXPECT_GE(after.finished.cached_tokens, 32u) << "the prompt was computed before";

  prompt.prompt_logprobs = 3;  // needs every position's logits, cached or not
  const Outcome scored = read_all(*submit(prompt).events);
  HashModel alone(kModel);
  EXPECT_EQ(scored.scores, compute_all_alone(alone, prompt).scores);
  EXPECT_EQ(scored.finished.cached_tokens, 0u);
  stop_and_count_pages();
}

TEST_F(EngineTest, RefusesWhatCanNeverRun) {
  start({}, /*pages=*/20);  // 320 tokens of KV, less than the model's context
  EXPECT_EQ(engine->limits().context, 320u);
  EXPECT_EQ(refusal(generation(1, 0)), ErrorKind::kInvalid);
  EXPECT_EQ(refusal(generation(1, 300, 21)), ErrorKind::kTooLarge);
  EXPECT_EQ(refusal(generation(1, 5, 0xffffffff)), ErrorKind::kTooLarge);
  for (TokenId bad : {-1, 97, 1 << 30}) {
    Generation g = generation(1);
    g.prompt[3] = bad;
    EXPECT_EQ(refusal(g), ErrorKind::kInvalid);
    g = generation(1);
    g.stop_tokens = {bad};
    EXPECT_EQ(refusal(g), ErrorKind::kInvalid);
    g = generation(1);
    g.sampling.logit_bias = {{bad, 1.0f}};
    EXPECT_EQ(refusal(g), ErrorKind::kInvalid);
  }
  const Generation longest = generation(1, 300, 20);
  EXPECT_EQ(read_all(*submit(longest).events).tokens, expected(longest)) << "exactly what fits";
  stop_and_count_pages();
}

TEST_F(EngineTest, RefusesBeyondTheBudgetsUntilThereIsRoom) {
  start({.max_requests = 3, .max_queued_tokens = 100});
  gate->close();
  std::vector<Stream> streams;
  streams.push_back(submit(generation(1, 200)));  // larger than the token budget, but nothing waits
  gate->await_step();                             // it has started: its tokens are not queued any more
  streams.push_back(submit(generation(2, 60)));
  EXPECT_EQ(refusal(generation(3, 41)), ErrorKind::kOverloaded);
  streams.push_back(submit(generation(3, 40)));
  EXPECT_EQ(refusal(generation(4, 1)), ErrorKind::kOverloaded) << "a fourth request";
  gate->open();
  for (Stream& stream : streams) EXPECT_EQ(read_all(*stream.events).finished.reason, FinishReason::kLength);
  ASSERT_TRUE(engine->wait_idle(60 * kSecond));
  EXPECT_EQ(read_all(*submit(generation(4, 90)).events).finished.reason, FinishReason::kLength);
  stop_and_count_pages();
}

TEST_F(EngineTest, CancelEndsWithinAStep) {
  start();
  gate->allow(3);
  const Generation g = generation(1, 20, 500);
  const Stream stream = submit(g);
  gate->await_step();  // the fourth: three tokens are out
  engine->cancel(stream.id);
  engine->cancel(stream.id);
  engine->cancel(12345);
  gate->open();
  const Outcome outcome = read_all(*stream.events);
  EXPECT_EQ(outcome.finished.reason, FinishReason::kCancelled);
  EXPECT_GE(outcome.tokens.size(), 3u);
  EXPECT_LE(outcome.tokens.size(), 4u);
  const std::vector<TokenId> whole = expected(g);
  EXPECT_TRUE(std::equal(outcome.tokens.begin(), outcome.tokens.end(), whole.begin()));
  engine->cancel(stream.id);  // long gone
  stop_and_count_pages();
}

TEST_F(EngineTest, ABrokenRowEndsItsRequestOnly) {
  start();
  gate->close();
  const Stream first = submit(generation(1));
  Generation poisoned = generation(2);
  poisoned.prompt.back() = 96;
  const Stream broken = submit(poisoned), last = submit(generation(3));
  gate->open();
  EXPECT_EQ(read_all(*first.events).tokens, expected(generation(1)));
  const Outcome outcome = read_all(*broken.events);
  EXPECT_EQ(outcome.finished.reason, FinishReason::kError);
  EXPECT_EQ(outcome.finished.error.kind, ErrorKind::kInternal);
  EXPECT_EQ(read_all(*last.events).tokens, expected(generation(3)));
  stop_and_count_pages();
}

TEST_F(EngineTest, DrainFinishesWhatRunsAndRefusesTheRest) {
  start();
  gate->close();
  std::vector<Stream> streams;
  for (uint32_t i = 0; i < 5; ++i) streams.push_back(submit(generation(i, 20, 50)));
  engine->drain();
  EXPECT_EQ(refusal(generation(9)), ErrorKind::kUnavailable);
  EXPECT_FALSE(engine->wait_idle(kMillisecond));
  gate->open();
  EXPECT_TRUE(engine->wait_idle(60 * kSecond));
  for (uint32_t i = 0; i < 5; ++i) {
    const Outcome outcome = read_all(*streams[i].events);
    EXPECT_EQ(outcome.tokens, expected(generation(i, 20, 50)));
    EXPECT_EQ(outcome.finished.reason, FinishReason::kLength);
  }
  stop_and_count_pages();
}

TEST_F(EngineTest, StopCancelsWhatRunsAndWhatWaits) {
  start({.max_running = 2});
  std::vector<Stream> streams;
  for (uint32_t i = 0; i < 6; ++i) streams.push_back(submit(generation(i, 20, 500)));
  ASSERT_TRUE(std::holds_alternative<Started>(next_event(*streams[0].events)));
  stop_and_count_pages();
  engine->stop();  // idempotent
  for (size_t i = 0; i < streams.size(); ++i) {
    Event event = Tokens{};
    while (!std::holds_alternative<Finished>(event)) event = next_event(*streams[i].events);
    EXPECT_EQ(std::get<Finished>(event).reason, FinishReason::kCancelled);
  }
  EXPECT_EQ(refusal(generation(9)), ErrorKind::kUnavailable);
  engine->cancel(streams[0].id);
  streams[1].events.reset();
  engine.reset();
  EXPECT_FALSE(streams[0].events->try_pop()) << "queues outlive the engine";
}

TEST_F(EngineTest, AReaderThatLagsPausesItsRequestAndLosesNothing) {
  start({.event_capacity = 4});
  const Generation slow = generation(1, 20, 200), fast = generation(2, 20, 300);
  const Stream lagging = submit(slow);
  EXPECT_EQ(read_all(*submit(fast).events).tokens, expected(fast)) << "others go on";
  EXPECT_TRUE(lagging.events->full());
  while (engine->stats().running > 1) std::this_thread::yield();  // published soon after the event
  EXPECT_EQ(engine->stats().running, 1u) << "paused, not cancelled";
  EXPECT_EQ(read_all(*lagging.events).tokens, expected(slow)) << "reading wakes the sleeping engine";
  stop_and_count_pages();
}

TEST_F(EngineTest, AReaderThatStallsTooLongIsCancelled) {
  start({.event_capacity = 64, .slow_reader_limit = 30 * kMillisecond});
  const Stream stalled = submit(generation(1, 20, 400));  // the other's 50 tokens fit in its queue
  EXPECT_EQ(read_all(*submit(generation(2, 20, 50)).events).finished.reason, FinishReason::kLength);
  ASSERT_TRUE(engine->wait_idle(60 * kSecond))
      << "although nobody reads or writes: the engine wakes by itself";
  const Outcome outcome = read_all(*stalled.events);
  EXPECT_EQ(outcome.finished.reason, FinishReason::kCancelled);
  EXPECT_EQ(outcome.tokens.size(), 63u) << "what fitted beside Started";
  stop_and_count_pages();
}

TEST_F(EngineTest, ManyThreadsSubmitCancelAndRead) {
  start({.max_requests = 12, .event_capacity = 16}, /*pages=*/60);
  std::atomic<int> complete = 0, cancelled = 0, refused = 0;
  std::vector<std::thread> clients;
  for (uint32_t client = 0; client < 8; ++client)
    clients.emplace_back([&, client] {
      std::mt19937 random(client);
      for (uint32_t round = 0; round < 12; ++round) {
        const Generation g = generation(client % 3, 20 + random() % 200, 1 + random() % 40);
        const auto stream = engine->submit(g);
        if (!stream) {
          EXPECT_EQ(stream.error().kind, ErrorKind::kOverloaded);
          ++refused;
          continue;
        }
        const bool cancel = random() % 3 == 0;
        if (cancel) engine->cancel(stream->id);
        (void)engine->stats();
        const Outcome outcome = read_all(*stream->events);
        const std::vector<TokenId> whole = expected(g);
        ASSERT_LE(outcome.tokens.size(), whole.size());
        EXPECT_TRUE(std::equal(outcome.tokens.begin(), outcome.tokens.end(), whole.begin()));
        if (outcome.finished.reason == FinishReason::kCancelled) {
          EXPECT_TRUE(cancel);
          ++cancelled;
        } else {
          EXPECT_EQ(outcome.finished.reason, FinishReason::kLength);
          EXPECT_EQ(outcome.tokens.size(), whole.size());
          ++complete;
        }
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(complete + cancelled + refused, 8 * 12);
  EXPECT_GT(complete, 20);
  EXPECT_TRUE(engine->wait_idle(60 * kSecond));
  stop_and_count_pages();
}

TEST(OpenEngine, DerivesItsLimits) {
  TaskPool pool(1, /*pin=*/false);
  HashModelOptions options;
  const size_t page_bytes = HashModel(options).kv_spec().groups[0].page_bytes;
  const auto open = [&](size_t kv_memory) {
    return open_engine(std::make_unique<HashModel>(options), pool,
                       {.kv_memory = kv_memory, .prefill_chunk = 64});
  };
  const auto none = open(page_bytes - 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kInvalid);

  const auto small = open(10 * page_bytes + 1).value();
  EXPECT_EQ(small->limits().pages, 10u);
  EXPECT_EQ(small->limits().kv_bytes, 10 * page_bytes);
  EXPECT_EQ(small->limits().context, 160u) << "one sequence may use all KV memory, no more";
  EXPECT_EQ(small->limits().prefill_chunk, 64u);
  EXPECT_NE(small->limits().describe().find("160 tokens"), std::string::npos);
  EXPECT_EQ(small->stats().pages_total, 10u) << "published before the first step";

  const auto large = open(1000 * page_bytes).value();
  EXPECT_EQ(large->limits().context, options.context) << "the model's own limit";
}

}  // namespace
}  // namespace reprise
