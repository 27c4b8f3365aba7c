// A world for tests of the scheduler: everything an engine has, with an executor whose KV memory is exact and
// whose time is simulated.
//
// Each KV cell says which prefix it was computed for and through how many layers; a state page says it per
// layer. So every wrong page, missing or wrong copy, stale reuse, write to a shared page and use after free
// shows as a cell that does not belong to the prefix being read. The next token is a hash of the prefix, so a
// request's tokens must be those it would get alone, whatever else runs.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/hash.h"
#include "core/executor.h"
#include "sched/scheduler.h"

namespace reprise::testing {

inline constexpr TokenId kVocabulary = 40;

inline uint64_t extend(uint64_t prefix, TokenId token) { return hash_bytes(&token, sizeof token, prefix); }
inline TokenId next_token(uint64_t prefix, TokenSpan banned) {
  auto token = static_cast<TokenId>(prefix % kVocabulary);
  while (std::ranges::find(banned, token) != banned.end()) token = (token + 1) % kVocabulary;
  return token;
}

// The log-probability of a prefix's last token, which no other prefix shares.
inline float score_of(uint64_t prefix) { return -static_cast<float>(prefix >> 44); }

// What a request yields alone.
struct Expected {
  std::vector<TokenId> tokens;
  FinishReason reason;
  uint32_t outputs = 0;
  std::vector<float> scores = {};
};
inline Expected run_alone(const Generation& g) {
  Expected expected{{}, FinishReason::kLength};
  uint64_t prefix = hash(g.cache_salt);
  for (size_t i = 0; i < g.prompt.size(); ++i) {
    prefix = extend(prefix, g.prompt[i]);
    if (i > 0 && g.prompt_logprobs >= 0) expected.scores.push_back(score_of(prefix));
  }
  while (expected.outputs < g.max_tokens) {
    TokenId token =
        next_token(prefix, expected.outputs < g.min_tokens ? TokenSpan(g.stop_tokens) : TokenSpan());
    ++expected.outputs;
    if (std::ranges::find(g.stop_tokens, token) != g.stop_tokens.end()) {
      expected.reason = FinishReason::kStop;
      break;
    }
    expected.tokens.push_back(token);
    prefix = extend(prefix, token);
  }
  return expected;
}

class ExactExecutor : public Executor {
 public:
  ExactExecutor(KvSpec spec, std::vector<std::unique_ptr<PagePool>>& pools, uint32_t layers)
      : spec_(std::move(spec)), pools_(pools), layers_(layers) {
    for (size_t g = 0; g < spec_.groups.size(); ++g) {
      const size_t cells = spec_.groups[g].kind == KvKind::kState ? layers_ : spec_.page_tokens;
      memory_.emplace_back(pools[g]->total(), std::vector<Cell>(cells));
    }
  }
  Ticket launch(const Batch& batch) override {
    batch_ = &batch;
    return 1;
  }
  StepResult wait(Ticket) override {
    StepResult result;
    for (RequestId id : batch_->abandoned) open_.erase(id);
    for (const PageCopy& copy : batch_->copies) {
      EXPECT_FALSE(pools_[copy.group]->shared(copy.to)) << "copy to a page in use";
      memory_[copy.group][copy.to] = memory_[copy.group][copy.from];
    }
    std::set<RequestId> seen;
    for (const BatchItem& item : batch_->items) {
      EXPECT_TRUE(seen.insert(item.sequence).second) << "two items of one sequence";
      result.items.push_back(compute(item));
      result.scored.push_back(score(item));
    }
    result.elapsed = duration(*batch_);
    return result;
  }
  uint32_t layers() const override { return layers_; }
  const KvSpec& kv_spec() const override { return spec_; }
  uint32_t pages(uint32_t group) const override { return pools_[group]->total(); }

  // How long a batch takes.
  std::function<Nanos(const Batch&)> duration = [](const Batch& batch) {
    Nanos time = 5 * kMillisecond;
    for (const BatchItem& item : batch.items) {
      time += 50 * kMicrosecond * (item.end - item.begin) * (item.layer_end - item.layer_begin);
    }
    return time;
  };
  std::map<RequestId, std::string> salts;
  std::set<RequestId> tokenless;  // requests with max_tokens 0
  double failure_rate = 0;
  std::mt19937_64 failures;
  size_t open_chunks() const { return open_.size(); }

 private:
  struct Cell {
    uint64_t prefix = 0;  // rows: hash of tokens [0, position]; states: of tokens [0, position)
    uint32_t layers = 0;  // rows: computed through so many
  };
  struct Chunk {
    uint32_t begin, end, layer;
    bool operator==(const Chunk&) const = default;
  };

  Result<std::vector<SampledToken>> compute(const BatchItem& item) {
    const uint32_t page_tokens = spec_.page_tokens;
    EXPECT_LT(item.begin, item.end);
    EXPECT_LE(item.end, item.tokens.size());
    EXPECT_LT(item.layer_begin, item.layer_end);
    EXPECT_LE(item.layer_end, layers_);
    auto open = open_.find(item.sequence);
    if (item.layer_begin == 0) {
      EXPECT_TRUE(open == open_.end()) << "an open chunk was neither continued nor abandoned";
    } else {
      EXPECT_TRUE(open != open_.end() && open->second == (Chunk{item.begin, item.end, item.layer_begin}));
    }
    if (item.layer_end == layers_) {
      open_.erase(item.sequence);
    } else {
      open_[item.sequence] = {item.begin, item.end, item.layer_end};
    }
    EXPECT_EQ(item.sample, item.layer_end == layers_ && item.end == item.tokens.size() &&
                               !tokenless.contains(item.sequence));

    std::vector<uint64_t> prefix{hash(salts.at(item.sequence))};  // [p]: of tokens [0, p)
    for (TokenId token : item.tokens) prefix.push_back(extend(prefix.back(), token));
    for (size_t g = 0; g < spec_.groups.size(); ++g) {
      const KvGroup& group = spec_.groups[g];
      const std::span<const PageId> table = item.pages[g];
      if (group.kind == KvKind::kDraft && table.empty()) continue;
      if (group.kind == KvKind::kState) {
        const PageId to = page(table, (item.end - 1) / page_tokens, g);
        EXPECT_FALSE(pools_[g]->shared(to)) << "write to a shared state";
        for (uint32_t layer = item.layer_begin; layer < item.layer_end; ++layer) {
          if (item.begin > 0) {
            const PageId from = page(table, (item.begin - 1) / page_tokens, g);
            EXPECT_EQ(memory_[g][from][layer].prefix, prefix[item.begin])
                << "wrong state, request " << item.sequence;
          }
          memory_[g][to][layer].prefix = prefix[item.end];
        }
        continue;
      }
      uint32_t from = 0;
      if (group.kind == KvKind::kWindow && item.begin > group.window) from = item.begin - group.window;
      for (uint32_t p = from; p < item.begin; ++p) {
        const Cell& cell = memory_[g][page(table, p / page_tokens, g)][p % page_tokens];
        EXPECT_TRUE(cell.prefix == prefix[p + 1] && cell.layers == layers_)
            << "wrong KV: request " << item.sequence << " group " << g << " position " << p << " of "
            << item.begin << " layers " << cell.layers;
      }
      for (uint32_t p = item.begin; p < item.end; ++p) {
        const PageId id = page(table, p / page_tokens, g);
        EXPECT_FALSE(pools_[g]->shared(id)) << "write to a shared page";
        Cell& cell = memory_[g][id][p % page_tokens];
        EXPECT_TRUE(item.layer_begin == 0 ||
                    (cell.prefix == prefix[p + 1] && cell.layers == item.layer_begin));
        cell = {prefix[p + 1], item.layer_end};
      }
    }
    if (failure_rate > 0 && std::uniform_real_distribution<>()(failures) < failure_rate) {
      return fail(ErrorKind::kInternal, "simulated");
    }
    std::vector<SampledToken> sampled;
    if (item.sample) {
      EXPECT_NE(item.sampling, nullptr);
      sampled.push_back({next_token(prefix.back(), item.banned), 0, {}});
    }
    return sampled;
  }
  std::vector<SampledToken> score(const BatchItem& item) {
    std::vector<SampledToken> scores;
    if (item.score_begin == item.score_end) return scores;
    EXPECT_EQ(item.layer_end, layers_);
    EXPECT_TRUE(item.begin <= item.score_begin && item.score_end <= item.end)
        << "scores of rows not computed";
    uint64_t prefix = hash(salts.at(item.sequence));
    for (uint32_t p = 0; p < item.score_end + 1; ++p) {
      prefix = extend(prefix, item.tokens[p]);
      if (p > item.score_begin) scores.push_back({item.tokens[p], score_of(prefix), {}});
    }
    return scores;
  }
  PageId page(std::span<const PageId> table, uint32_t index, size_t group) {
    EXPECT_LT(index, table.size());
    const PageId id = index < table.size() ? table[index] : kNoPage;
    EXPECT_NE(id, kNoPage) << "page " << index << " of group " << group << " is missing";
    return id == kNoPage ? 0 : id;
  }

  const KvSpec spec_;
  std::vector<std::unique_ptr<PagePool>>& pools_;
  const uint32_t layers_;
  std::vector<std::vector<std::vector<Cell>>> memory_;  // [group][page][row]
  std::map<RequestId, Chunk> open_;
  const Batch* batch_ = nullptr;
};

struct Outcome {
  bool started = false;
  std::vector<TokenId> tokens;
  std::vector<TokenId> scored;
  std::vector<float> scores;
  std::optional<Finished> finished;
  Nanos first_at = -1;
};

class Recorder : public EventSink {
 public:
  void emit(RequestId id, Event event) override {
    Outcome& outcome = outcomes[id];
    EXPECT_FALSE(outcome.finished) << "an event after Finished";
    if (std::holds_alternative<Started>(event)) {
      EXPECT_FALSE(outcome.started);
      outcome.started = true;
    } else if (auto* tokens = std::get_if<Tokens>(&event)) {
      EXPECT_TRUE(outcome.started);
      if (outcome.first_at < 0) outcome.first_at = clock;
      for (auto& token : tokens->tokens) outcome.tokens.push_back(token.token);
    } else if (auto* scores = std::get_if<PromptTokens>(&event)) {
      EXPECT_TRUE(outcome.started && outcome.tokens.empty());
      for (auto& token : scores->tokens) {
        outcome.scored.push_back(token.token);
        outcome.scores.push_back(token.logprob);
      }
    } else {
      outcome.finished = std::get<Finished>(event);
    }
  }
  std::map<RequestId, Outcome> outcomes;
  Nanos clock = 0;
};

struct Scenario {
  std::string name;
  KvSpec spec;
  std::vector<uint32_t> pages;
  uint32_t chunk = 16;
  bool pace = true;
  uint32_t slice_layers = 0;
  uint32_t max_rows = 64, max_running = 8;
  bool faults = true;  // cancels, blocked queues, failing items
  uint32_t layers = 3;
  double pass_tokens = 0;
  bool sparse = false;
  Nanos longest_step = 20 * kMillisecond;
};

inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

// Everything an engine has, with the executor replaced.
struct World {
  explicit World(const Scenario& scenario) {
    for (uint32_t pages : scenario.pages) pools.push_back(std::make_unique<PagePool>(pages));
    cache = std::make_unique<PrefixCache>(scenario.spec, pools);
    executor = std::make_unique<ExactExecutor>(scenario.spec, pools, scenario.layers);
    SchedulerConfig config;
    config.layers = scenario.layers;
    config.pass_tokens = scenario.pass_tokens;
    config.sparse = scenario.sparse;
    config.kv = scenario.spec;
    config.chunk_tokens = scenario.chunk;
    config.pace = scenario.pace;
    config.slice_layers = scenario.slice_layers;
    config.max_rows = scenario.max_rows;
    config.max_running = scenario.max_running;
    config.longest_step = scenario.longest_step;
    scheduler = std::make_unique<Scheduler>(config, pools, *cache, sink);
  }
  bool add(RequestId id, const Generation& g) {
    auto added = scheduler->add(id, g, now);
    if (added) {
      generations[id] = g;
      executor->salts[id] = g.cache_salt;
      if (g.max_tokens == 0) executor->tokenless.insert(id);
      sink.outcomes[id];
    }
    return added.has_value();
  }
  // One engine step; false when there was nothing to do. `meanwhile` runs while it is in flight.
  template <typename F>
  bool step(F&& meanwhile) {
    sink.clock = now;
    Batch batch = scheduler->plan(now);
    scheduler->check();
    cache->check();
    if (batch.empty()) return false;
    for (const BatchItem& item : batch.items)
      EXPECT_FALSE(blocked.contains(item.sequence)) << "a blocked one runs";
    meanwhile(batch);
    StepResult result = executor->wait(executor->launch(batch));
    now += result.elapsed;
    sink.clock = now;
    scheduler->commit(result, now);
    scheduler->check();
    cache->check();
    return true;
  }
  bool step() {
    return step([](const Batch&) {});
  }
  void block(RequestId id, bool on) {
    scheduler->set_blocked(id, on);
    if (on) {
      blocked.insert(id);
    } else {
      blocked.erase(id);
    }
  }
  // Runs until every request has ended.
  void drain() {
    while (!blocked.empty()) block(*blocked.begin(), false);
    for (int steps = 0; !scheduler->idle(); ++steps) {
      ASSERT_LT(steps, 200'000) << "no end in sight";
      ASSERT_TRUE(step()) << "nothing runs although nothing is blocked";
      if (::testing::Test::HasFailure()) return;
    }
  }
  void expect_all_pages_free_or_cached() {
    step();  // tells the executor of the last abandoned chunks
    EXPECT_EQ(executor->open_chunks(), 0u);
    for (uint32_t g = 0; g < pools.size(); ++g) {
      EXPECT_EQ(pools[g]->free() + pools[g]->evictable(), pools[g]->total());
      cache->evict(g, pools[g]->total());
      cache->check();
      EXPECT_EQ(pools[g]->free(), pools[g]->total()) << "unreferenced pages that can't be evicted";
    }
    EXPECT_EQ(cache->stats().tokens, 0u);
    EXPECT_EQ(cache->stats().nodes, 0u);
  }

  std::vector<std::unique_ptr<PagePool>> pools;
  std::unique_ptr<PrefixCache> cache;
  std::unique_ptr<ExactExecutor> executor;
  Recorder sink;
  std::unique_ptr<Scheduler> scheduler;
  std::map<RequestId, Generation> generations;
  std::set<RequestId> blocked;
  Nanos now = 0;
};

}  // namespace reprise::testing
