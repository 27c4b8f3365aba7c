// Design: everything a request changes lives on the engine thread (Loop, scheduler, cache, pages); other
// threads post messages and read three things that have a lock of their own: the mailbox, the admission
// budgets, the last Stats.
//
// A reader that lags fills its event queue. The request is then blocked in the scheduler; the queue posts
// Resumed when it has been read down to half, and `stalled_`, ordered by time, cancels those whose reader
// takes too long. So the thread needs no polling: it sleeps until a message comes or the first stalled
// request is due.
//
// Invariant: live_ holds exactly the requests taken from the mailbox that have not been told Finished.
#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/mailbox.h"
#include "cache/page_pool.h"
#include "cache/prefix_cache.h"
#include "engine/admission.h"
#include "sched/scheduler.h"

namespace reprise {

namespace {
struct Submit {
  RequestId id;
  Generation generation;
  std::shared_ptr<EventQueue> events;
  Nanos at;
};
struct Cancel {
  RequestId id;
};
struct Resumed {  // the reader has caught up
  RequestId id;
};
struct Stop {};
using Message = std::variant<Submit, Cancel, Resumed, Stop>;

Result<void> check_ids(const Generation& g, uint32_t vocabulary) {
  const auto valid = [&](TokenId token) { return token >= 0 && static_cast<uint32_t>(token) < vocabulary; };
  for (TokenId token : g.prompt)
    if (!valid(token))
      return invalid_param("prompt", "token id {} is outside the vocabulary of {}", token, vocabulary);
  for (TokenId token : g.stop_tokens)
    if (!valid(token))
      return invalid_param("stop_token_ids", "token id {} is outside the vocabulary of {}", token,
                           vocabulary);
  for (const auto& [token, bias] : g.sampling.logit_bias)
    if (!valid(token))
      return invalid_param("logit_bias", "token id {} is outside the vocabulary of {}", token, vocabulary);
  return {};
}

std::vector<std::unique_ptr<PagePool>> make_pools(const Executor& executor) {
  std::vector<std::unique_ptr<PagePool>> pools;
  for (uint32_t group = 0; group < executor.kv_spec().groups.size(); ++group)
    pools.push_back(std::make_unique<PagePool>(executor.pages(group)));
  return pools;
}

SchedulerConfig scheduler_config(const Executor& executor, const Limits& limits, const EngineConfig& config,
                                 uint64_t fingerprint) {
  SchedulerConfig result;
  result.layers = executor.layers();
  result.pass_tokens = executor.pass_tokens();
  result.head_layers = executor.head_layers();
  result.sparse = executor.sparse();
  result.kv = executor.kv_spec();
  result.fingerprint = fingerprint;
  result.chunk_tokens = limits.prefill_chunk;
  result.max_running = limits.max_running;
  result.pace = config.pace;
  result.slice_layers = config.slice_layers;
  return result;
}
}  // namespace

struct Engine::Loop final : EventSink {
  Loop(std::unique_ptr<Executor> the_executor, const Limits& the_limits, const EngineConfig& config,
       uint64_t fingerprint)
      : limits(the_limits),
        event_capacity(std::max(1u, config.event_capacity)),
        slow_reader_limit(config.slow_reader_limit),
        admission(limits.max_requests, limits.max_queued_tokens),
        mailbox(std::make_shared<Mailbox<Message>>(limits.max_requests)),
        executor(std::move(the_executor)),
        pools(make_pools(*executor)),
        cache(executor->kv_spec(), pools),
        scheduler(scheduler_config(*executor, limits, config, fingerprint), pools, cache, *this),
        published(scheduler.stats()) {}

  // Any thread.
  const Limits limits;
  const uint32_t event_capacity;
  const Nanos slow_reader_limit;
  std::atomic<RequestId> last_id = 0;
  Admission admission;
  const std::shared_ptr<Mailbox<Message>> mailbox;  // shared with the event queues, which may live longer
  std::mutex stop_mutex;
  std::thread thread;

  // The engine thread.
  struct Live {
    std::shared_ptr<EventQueue> events;
    uint64_t waiting_tokens = 0;  // what admission counts as queued
    Nanos blocked_since = 0;      // 0 = not blocked
  };
  struct Stalled {
    Nanos since;
    RequestId id;
  };
  std::unique_ptr<Executor> executor;
  std::vector<std::unique_ptr<PagePool>> pools;
  PrefixCache cache;
  Scheduler scheduler;
  std::unordered_map<RequestId, Live> live;
  std::vector<RequestId> filled;  // their queues filled up during the scheduler call at work
  std::deque<Stalled> stalled;    // oldest first; stale once Live::blocked_since differs

  mutable std::mutex published_mutex;
  Stats published;

  void run() {
    bool stopping = false, working = false;
    while (!stopping) {
      for (Message& message : next_messages(working)) stopping = !handle(std::move(message)) || stopping;
      cancel_slow_readers();
      working = step();
    }
    finish_all();
  }

  std::vector<Message> next_messages(bool working) {
    if (working) return mailbox->drain(/*wait=*/false);
    while (!stalled.empty() && !is_current(stalled.front())) stalled.pop_front();
    if (stalled.empty()) return mailbox->drain(/*wait=*/true);
    return mailbox->drain_for(std::max<Nanos>(stalled.front().since + slow_reader_limit - now(), 0));
  }

  // False when it is time to stop.
  bool handle(Message message) {
    if (auto* submit = std::get_if<Submit>(&message)) {
      const auto prompt_tokens = static_cast<uint32_t>(submit->generation.prompt.size());
      live.emplace(submit->id, Live{std::move(submit->events), prompt_tokens});
      if (auto added = scheduler.add(submit->id, std::move(submit->generation), submit->at); !added)
        emit(submit->id, Finished{.reason = FinishReason::kError,
                                  .error = std::move(added).error(),
                                  .prompt_tokens = prompt_tokens});
    } else if (const auto* cancel = std::get_if<Cancel>(&message)) {
      scheduler.cancel(cancel->id, now());
    } else if (const auto* resumed = std::get_if<Resumed>(&message)) {
      if (const auto found = live.find(resumed->id); found != live.end()) found->second.blocked_since = 0;
      scheduler.set_blocked(resumed->id, false);
    } else {
      return false;
    }
    return true;
  }

  // One batch. False when there is nothing to compute now.
  bool step() {
    const Batch batch = scheduler.plan(now());
    const bool some = !batch.empty();
    if (some) {
      StepResult result = executor->wait(executor->launch(batch));
      scheduler.commit(std::move(result),
                       now());  // the time after the step: arguments have no order of evaluation
    }
    block_filled();
    publish();
    return some;
  }

  void emit(RequestId id, Event event) override {
    const auto found = live.find(id);
    CHECK(found != live.end(), "an event for request {}, which is not live", id);
    Live& request = found->second;
    const bool finished = std::holds_alternative<Finished>(event);
    if (finished || std::holds_alternative<Started>(event))
      admission.started(std::exchange(request.waiting_tokens, 0));
    const auto events = finished ? std::move(request.events) : request.events;
    if (finished) live.erase(found);
    events->push(std::move(event));
    if (finished) {
      admission.left();
    } else if (request.blocked_since == 0 && events->full()) {
      filled.push_back(id);
    }
  }

  void block_filled() {
    for (RequestId id : filled) {
      const auto found = live.find(id);
      if (found == live.end() || !found->second.events->full()) continue;
      found->second.blocked_since = now();
      stalled.push_back({found->second.blocked_since, id});
      scheduler.set_blocked(id, true);
    }
    filled.clear();
  }

  bool is_current(const Stalled& entry) const {
    const auto found = live.find(entry.id);
    return found != live.end() && found->second.blocked_since == entry.since;
  }
  void cancel_slow_readers() {
    const Nanos time = now();
    while (!stalled.empty() &&
           (!is_current(stalled.front()) || stalled.front().since + slow_reader_limit <= time)) {
      const Stalled entry = stalled.front();
      stalled.pop_front();
      if (is_current(entry)) scheduler.cancel(entry.id, time);
    }
  }

  void publish() {
    const Stats stats = scheduler.stats();
    std::lock_guard lock(published_mutex);
    published = stats;
  }

  void finish_all() {
    mailbox->close();
    for (Message& message : mailbox->drain(/*wait=*/false)) handle(std::move(message));
    std::vector<RequestId> ids;
    for (const auto& [id, request] : live) ids.push_back(id);
    for (RequestId id : ids) scheduler.cancel(id, now());
    while (step()) {  // the executor forgets chunks in flight
    }
    CHECK(live.empty() && scheduler.idle(), "{} requests outlive the engine", live.size());
    scheduler.check();
    cache.check();
    publish();
  }
};

Engine::Engine(std::unique_ptr<Executor> executor, const Limits& limits, const EngineConfig& config,
               uint64_t fingerprint)
    : loop_(std::make_unique<Loop>(std::move(executor), limits, config, fingerprint)) {
  loop_->thread = std::thread([loop = loop_.get()] { loop->run(); });
}

Engine::~Engine() { stop(); }

Result<Stream> Engine::submit(Generation generation) {
  const Limits& limits = loop_->limits;
  const size_t prompt_tokens = generation.prompt.size();
  if (prompt_tokens == 0) return invalid_param("prompt", "the prompt is empty");
  if (prompt_tokens + generation.max_tokens > limits.context)
    return fail(
        ErrorKind::kTooLarge,
        "the prompt has {} tokens and max_tokens is {}: together more than the {} tokens that fit here",
        prompt_tokens, generation.max_tokens, limits.context);
  TRY(check_ids(generation, limits.vocabulary));
  TRY(loop_->admission.enter(prompt_tokens));

  const RequestId id = ++loop_->last_id;
  auto events = std::make_shared<EventQueue>(loop_->event_capacity,
                                             [mailbox = loop_->mailbox, id] { mailbox->push(Resumed{id}); });
  if (!loop_->mailbox->push(Submit{id, std::move(generation), events, now()})) {
    loop_->admission.started(prompt_tokens);
    loop_->admission.left();
    return fail(ErrorKind::kUnavailable, "the server is shutting down");
  }
  return Stream{id, std::move(events)};
}

void Engine::cancel(RequestId id) { loop_->mailbox->push(Cancel{id}); }

Stats Engine::stats() const {
  std::lock_guard lock(loop_->published_mutex);
  return loop_->published;
}

const Limits& Engine::limits() const { return loop_->limits; }

void Engine::drain() { loop_->admission.close(); }

bool Engine::wait_idle(Nanos timeout) { return loop_->admission.wait_empty(timeout); }

void Engine::stop() {
  drain();
  loop_->mailbox->push(Stop{});
  std::lock_guard lock(loop_->stop_mutex);
  if (loop_->thread.joinable()) loop_->thread.join();
}

}  // namespace reprise
