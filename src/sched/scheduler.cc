// The life of a request: add, cancel, commit, finish. What to run next is plan.cc, pages are paging.cc.
//
// Invariants:
//   * `sequences` holds exactly the unfinished requests; erasing one drops its pages.
//   * While a step is in flight no page it reads or writes is dropped: a sequence in it that is to end
//     becomes Ending and is finished by commit().
//   * Decoding: all tokens but the newest have KV. Prefilling: at least one more than that lacks it, or
//     nothing has been sampled since it (re)started.
#include "sched/scheduler.h"

#include <algorithm>

#include "sched/state.h"

namespace reprise {

namespace {
constexpr size_t kScoresPerEvent = 64;  // the queue of events is bounded by their number
}

Scheduler::State::State(const SchedulerConfig& config, std::vector<std::unique_ptr<PagePool>>& pools,
                        PrefixCache& cache, EventSink& sink)
    : config(config),
      page_tokens(config.kv.page_tokens),
      groups(static_cast<uint32_t>(config.kv.groups.size())),
      keeps_states(
          std::ranges::any_of(config.kv.groups, [](const KvGroup& g) { return g.kind == KvKind::kState; })),
      pools(pools),
      cache(cache),
      sink(sink),
      cost(config.pass_tokens) {
  CHECK(config.layers > 0 && page_tokens > 0 && groups > 0 && groups <= kMaxKvGroups &&
        pools.size() == groups);
  CHECK(config.chunk_tokens > 0 && config.max_rows >= 2 && config.max_running > 0);
  counters.pages_total = pools[0]->total();
  counters.page_tokens = page_tokens;
}

Scheduler::Scheduler(const SchedulerConfig& config, std::vector<std::unique_ptr<PagePool>>& pools,
                     PrefixCache& cache, EventSink& sink)
    : state_(std::make_unique<State>(config, pools, cache, sink)) {}
Scheduler::~Scheduler() = default;

Result<void> Scheduler::add(RequestId id, Generation generation, Nanos now) {
  State& s = *state_;
  CHECK(id != 0 && !s.sequences.contains(id), "request {} exists", id);
  if (generation.prompt.empty())
    return invalid_param("prompt", "the prompt is empty: send at least one token");
  const uint64_t positions = uint64_t{generation.prompt.size()} + std::max(generation.max_tokens, 1u) - 1;
  if (positions > UINT32_MAX / 2)
    return reprise::fail(ErrorKind::kTooLarge, "prompt and max_tokens are too large");
  TRY(s.fits_alone(static_cast<uint32_t>(positions)));

  Sequence& sequence = s.sequences[id];
  sequence.id = id;
  sequence.sampling = std::move(generation.sampling);
  sequence.stop_tokens = std::move(generation.stop_tokens);
  sequence.tokens = std::move(generation.prompt);
  sequence.prompt_size = sequence.size();
  sequence.max_tokens = generation.max_tokens;
  sequence.min_tokens = generation.min_tokens;
  sequence.prompt_logprobs = generation.prompt_logprobs;
  sequence.key = {std::move(generation.cache_salt), 0, s.config.fingerprint};
  sequence.session = SessionLedger::key(id, generation.session);
  sequence.arrived = now;
  s.ledger.enter(sequence.session);
  return {};
}

void Scheduler::cancel(RequestId id, Nanos now) { state_->end(id, FinishReason::kCancelled, {}, now); }
void Scheduler::fail(RequestId id, Error error, Nanos now) {
  state_->end(id, FinishReason::kError, std::move(error), now);
}

void Scheduler::set_blocked(RequestId id, bool blocked) {
  if (Sequence* sequence = state_->find(id)) sequence->blocked = blocked;
}

Batch Scheduler::plan(Nanos now) {
  State& s = *state_;
  CHECK(!s.in_flight, "plan() before commit()");
  s.plan_decodes();
  s.plan_prefill(now);
  Batch batch = s.make_batch();
  s.in_flight = !batch.empty();
  return batch;
}

void Scheduler::commit(StepResult result, Nanos now) {
  State& s = *state_;
  CHECK(s.in_flight, "commit() without plan()");
  CHECK(result.items.size() == s.items.size(), "{} results for {} items", result.items.size(),
        s.items.size());
  s.in_flight = false;
  const std::vector<State::Item> items = std::exchange(s.items, {});
  s.copies.clear();
  s.cost.observe(s.work, result.elapsed);
  if (s.work.decode_rows > 0) s.mixed_steps = s.work.prefill_token_layers > 0 ? s.mixed_steps + 1 : 0;
  if (s.work.prefill_token_layers > 0) {
    constexpr double kFade = 0.95;
    s.recent_tokens = s.recent_tokens * kFade + s.work.prefill_token_layers / s.config.layers;
    s.recent_seconds = s.recent_seconds * kFade + to_seconds(result.elapsed);
  }
  ++s.counters.steps;
  CHECK(result.scored.empty() || result.scored.size() == items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    s.commit_item(items[i], result.items[i],
                  result.scored.empty() ? std::vector<SampledToken>{} : std::move(result.scored[i]), now);
  }
}

bool Scheduler::idle() const { return state_->sequences.empty(); }

Stats Scheduler::stats() const {
  const State& s = *state_;
  Stats stats = s.counters;
  stats.running = s.running;
  stats.waiting = static_cast<uint32_t>(s.sequences.size()) - s.running;
  for (const auto& [id, sequence] : s.sequences) {
    if (sequence.waiting()) stats.queued_tokens += sequence.size();
    if (auto* prefilling = std::get_if<Prefilling>(&sequence.state)) {
      stats.queued_tokens += sequence.size() - prefilling->run.computed;
    }
  }
  stats.pages_free = s.pools[0]->free();
  stats.pages_cached = s.pools[0]->evictable();
  stats.prefill_tokens_per_s = s.recent_seconds > 0 ? s.recent_tokens / s.recent_seconds : 0;
  stats.evicted_pages = s.cache.stats().evicted_pages;
  return stats;
}

Sequence* Scheduler::State::find(RequestId id) {
  auto it = sequences.find(id);
  return it == sequences.end() ? nullptr : &it->second;
}

void Scheduler::State::end(RequestId id, FinishReason reason, Error error, Nanos now) {
  Sequence* sequence = find(id);
  if (!sequence || std::holds_alternative<Ending>(sequence->state)) return;
  if (!sequence->in_step) return finish(*sequence, reason, std::move(error), now);
  Running run = std::move(*sequence->running());
  sequence->state = Ending{std::move(run), reason, std::move(error)};
}

void Scheduler::State::finish(Sequence& sequence, FinishReason reason, Error error, Nanos now) {
  if (Running* run = sequence.running()) {
    if (run->chunk) abandoned.push_back(sequence.id);
    if (reason != FinishReason::kError) keep_in_cache(sequence, *run);
    --running;
  }
  Finished finished;
  finished.reason = reason;
  finished.error = std::move(error);
  finished.prompt_tokens = sequence.prompt_size;
  finished.cached_tokens = sequence.cached_tokens;
  finished.output_tokens = sequence.outputs;
  finished.preemptions = sequence.preemptions;
  const bool began = sequence.start_order > 0, produced = sequence.outputs > 0;
  finished.queued = (began ? sequence.started : now) - sequence.arrived;
  if (began) finished.prefill = (produced ? sequence.first_token : now) - sequence.started;
  if (produced) finished.decode = now - sequence.first_token;
  ledger.leave(sequence.session);
  const RequestId id = sequence.id;
  sequences.erase(id);
  sink.emit(id, std::move(finished));
}

void Scheduler::State::commit_item(const Item& item, const Result<std::vector<SampledToken>>& result,
                                   std::vector<SampledToken> scored, Nanos now) {
  Sequence& sequence = *item.sequence;
  Running& run = *sequence.running();
  sequence.in_step = false;
  const bool complete = item.layer_end == config.layers;
  if (!complete) {
    run.chunk = OpenChunk{item.begin, item.end, item.layer_end};
  } else if (result) {
    run.chunk.reset();
    run.computed = item.end;
    settle(sequence, run);
    if (!item.decode) {
      counters.prefill_tokens += item.end - item.begin;
      ledger.charge(sequence.session, item.end - item.begin);
    }
  }
  if (auto* ending = std::get_if<Ending>(&sequence.state)) {
    if (!result) run.computed = 0;  // what failed is not worth keeping
    Error error = std::move(ending->error);
    return finish(sequence, ending->reason, std::move(error), now);
  }
  if (!result) return finish(sequence, FinishReason::kError, result.error(), now);
  CHECK(scored.size() == item.score_end - item.score_begin, "{} scores of request {}, wanted {}",
        scored.size(), sequence.id, item.score_end - item.score_begin);
  tell_scores(sequence, std::move(scored));
  if (item.sample) {
    append(sequence, *result, now);
  } else if (sequence.max_tokens == 0 && run.computed == sequence.prompt_size) {
    finish(sequence, FinishReason::kLength, {}, now);
  }
}

void Scheduler::State::tell_scores(Sequence& sequence, std::vector<SampledToken> scored) {
  sequence.scored += static_cast<uint32_t>(scored.size());
  for (size_t begin = 0; begin < scored.size(); begin += kScoresPerEvent) {
    const auto first = scored.begin() + static_cast<std::ptrdiff_t>(begin);
    const size_t size = std::min(kScoresPerEvent, scored.size() - begin);
    PromptTokens event;
    event.tokens.assign(std::move_iterator(first),
                        std::move_iterator(first + static_cast<std::ptrdiff_t>(size)));
    sink.emit(sequence.id, std::move(event));
  }
}

void Scheduler::State::append(Sequence& sequence, const std::vector<SampledToken>& sampled, Nanos now) {
  CHECK(!sampled.empty(), "nothing was sampled for request {}", sequence.id);
  Tokens event;
  std::optional<FinishReason> reason;
  for (const SampledToken& token : sampled) {
    if (sequence.outputs++ == 0) sequence.first_token = now;
    ++counters.decode_tokens;
    ledger.charge(sequence.session, 2);  // an output token costs about as much as two of a prompt
    if (std::ranges::find(sequence.stop_tokens, token.token) != sequence.stop_tokens.end()) {
      reason = FinishReason::kStop;
      break;
    }
    sequence.tokens.push_back(token.token);
    event.tokens.push_back(token);
    if (sequence.outputs == sequence.max_tokens) {
      reason = FinishReason::kLength;
      break;
    }
  }
  if (!event.tokens.empty()) sink.emit(sequence.id, std::move(event));
  if (reason) return finish(sequence, *reason, {}, now);
  if (auto* prefilling = std::get_if<Prefilling>(&sequence.state)) {
    Running run = std::move(prefilling->run);
    sequence.state = Decoding{std::move(run)};
  }
}

void Scheduler::check() const {
  const State& s = *state_;
  uint32_t running = 0;
  std::vector<std::vector<bool>> held;
  for (const auto& pool : s.pools) held.emplace_back(pool->total());
  for (const auto& [id, sequence] : s.sequences) {
    CHECK(id == sequence.id && sequence.size() >= sequence.prompt_size);
    CHECK((sequence.outputs < sequence.max_tokens || (sequence.max_tokens == 0 && sequence.outputs == 0)) &&
          sequence.size() == sequence.prompt_size + sequence.outputs);
    CHECK(!sequence.in_step || s.in_flight);
    const Running* run = sequence.running();
    CHECK(!sequence.waiting() == (run != nullptr));
    CHECK(!std::holds_alternative<Ending>(sequence.state) || sequence.in_step);
    if (!run) continue;
    ++running;
    CHECK(sequence.start_order > 0 && run->computed < sequence.size());
    CHECK(sequence.scored < sequence.prompt_size);
    if (std::holds_alternative<Decoding>(sequence.state))
      CHECK(run->computed + 1 == sequence.size() && !run->chunk && !sequence.scoring());
    if (run->chunk) CHECK(run->chunk->begin == run->computed && run->chunk->end <= sequence.size());
    for (uint32_t g = 0; g < s.groups; ++g) {
      const KvGroup& group = s.config.kv.groups[g];
      for (size_t page = 0; page < run->pages[g].size(); ++page) {
        if (run->pages[g].has(page)) held[g][run->pages[g][page].id()] = true;
      }
      for (uint32_t page = 0; page < s.page_count(run->computed); ++page) {
        if (group.kind == KvKind::kFull || (group.kind == KvKind::kDraft && run->drafting)) {
          CHECK(run->pages[g].has(page), "request {} lacks page {} of group {}", id, page, g);
        }
      }
    }
  }
  CHECK(running == s.running, "{} {}", running, s.running);
  CHECK(s.in_flight || (s.items.empty() && s.copies.empty()));
  for (const State::Copy& copy : s.copies) held[copy.group][copy.from.id()] = true;
  for (uint32_t g = 0; g < s.groups; ++g) {
    for (PageId id = 0; id < s.pools[g]->total(); ++id) {
      CHECK(held[g][id] == s.pools[g]->used_by_sequence(id), "page {} of group {} has an unknown user", id,
            g);
    }
  }
}

}  // namespace reprise
