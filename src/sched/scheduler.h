// Who runs next, with how many tokens and through which layers: continuous batching as a pure state machine.
//
// The same calls give the same answers: time is an argument, there is no randomness. Engine thread
// only. The loop is
//   batch = plan(now);  ticket = executor.launch(batch);  commit(executor.wait(ticket), now);
// with one step in flight; add(), cancel(), fail() and set_blocked() may come at any moment, also
// between plan and commit. (`now` of commit() is the time after the wait: C++ does not order arguments,
// so read it last.)
//
// * Every decoding sequence advances each step; the prefill part beside it is cut to a time budget (a
//   multiple of the decode part) by tokens *and layers*, from a cost model learned from
//   StepResult::elapsed. See sched/cost_model.h.
// * Prefill order: fewest tokens left first, with ageing, and with the tokens already served to a
//   session counted against it (Sheng et al. 2024, "Fairness in Serving Large Language Models"): every
//   wait is bounded.
// * The prefix cache is asked when a sequence starts, not when it arrives; a sequence waits (bounded)
//   for another that is computing the same prefix right now. Full pages are shared as soon as they are
//   complete.
// * Pages are taken as needed: free ones, then evicted cache leaves, then those of a preempted sequence
//   (blocked ones first, then the latest started). A preempted sequence keeps its output and computes
//   its KV again, mostly from the cache. The oldest unblocked sequence is never preempted, so there is
//   always progress.
// * Every accepted request ends with exactly one Finished.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cache/page_pool.h"
#include "cache/prefix_cache.h"
#include "core/batch.h"
#include "core/event.h"
#include "core/generation.h"
#include "core/kv.h"
#include "core/stats.h"

namespace reprise {

struct SchedulerConfig {
  uint32_t layers = 0;     // of the model
  double pass_tokens = 0;  // Executor::pass_tokens
  double head_layers = 0;  // Executor::head_layers
  bool sparse = false;     // Executor::sparse
  KvSpec kv;
  uint64_t fingerprint = 0;     // ModelInfo::fingerprint
  uint32_t chunk_tokens = 512;  // most tokens of a prefill item (--chunk)
  uint32_t max_rows = 1024;     // most rows of a step
  uint32_t max_running = 256;   // most sequences that hold pages
  // Pacing. With `pace` off a prefill item takes chunk_tokens whatever it costs; with slice_layers > 0 it
  // advances by exactly that many layers. Both are for tests of invariance.
  bool pace = true;
  uint32_t slice_layers = 0;
  double prefill_share = 2.0;               // with decodes running: prefill time of a step / its decode time
  Nanos longest_step = 250 * kMillisecond;  // without: about how long a prefill step may take
};

// Receives what a request's owner is to be told, in order. Called from within scheduler calls; must not call
// back.
struct EventSink {
  virtual ~EventSink() = default;
  virtual void emit(RequestId id, Event event) = 0;
};

class Scheduler {
 public:
  // `pools` (one per KV group) and `cache` outlive the scheduler, as does `sink`.
  Scheduler(const SchedulerConfig& config, std::vector<std::unique_ptr<PagePool>>& pools, PrefixCache& cache,
            EventSink& sink);
  ~Scheduler();

  // Accepts a request; `id` is new. Errors (nothing is emitted): kInvalid, kTooLarge when it could not run
  // even alone.
  Result<void> add(RequestId id, Generation generation, Nanos now);
  // Ends a request now, or at the commit of the step it is in. Unknown ids are ignored. Its KV stays cached.
  void cancel(RequestId id, Nanos now);
  void fail(RequestId id, Error error, Nanos now);
  // A blocked sequence (its event queue is full) is not scheduled. Unknown ids are ignored.
  void set_blocked(RequestId id, bool blocked);

  // The next step; empty when nothing can run now (idle, or everything blocked). CHECK: no step is in flight.
  // A batch that has only `abandoned` is launched and committed like any other; an empty one must not be
  // committed. Its spans point into the scheduler and are valid until commit().
  Batch plan(Nanos now);
  // The outcome of the batch from the last plan(), one result per item.
  void commit(StepResult result, Nanos now);

  bool idle() const;  // no unfinished request (a last plan() may still have `abandoned` to tell)
  Stats stats() const;
  void check() const;  // aborts unless every invariant holds; for tests

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise
