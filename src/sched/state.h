// The scheduler's inside, in three files: scheduler.cc (life of a request), plan.cc (what the next step
// does), paging.cc (pages: need, room, preemption, sharing). Private to sched/.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "sched/cost_model.h"
#include "sched/scheduler.h"
#include "sched/sequence.h"
#include "sched/session_ledger.h"

namespace reprise {

struct Scheduler::State {
  State(const SchedulerConfig& config, std::vector<std::unique_ptr<PagePool>>& pools, PrefixCache& cache,
        EventSink& sink);

  struct Item {
    Sequence* sequence;
    uint32_t begin, end, layer_begin, layer_end;
    bool sample, decode;
    uint32_t score_begin = 0, score_end = 0;  // as in BatchItem
  };
  // Keeps the source until the step that copies is committed; the target is in the owner's table.
  struct Copy {
    const Sequence* owner;
    uint32_t group;
    PageRef from;
    PageId to;
  };
  using Need = std::array<uint32_t, kMaxKvGroups>;  // pages per group

  // scheduler.cc
  Sequence* find(RequestId id);
  void end(RequestId id, FinishReason reason, Error error, Nanos now);
  void finish(Sequence& sequence, FinishReason reason, Error error, Nanos now);
  void commit_item(const Item& item, const Result<std::vector<SampledToken>>& result,
                   std::vector<SampledToken> scored, Nanos now);
  void tell_scores(Sequence& sequence, std::vector<SampledToken> scored);
  void append(Sequence& sequence, const std::vector<SampledToken>& sampled, Nanos now);

  // plan.cc
  struct Candidate {
    double score;
    Sequence* sequence;
  };
  enum class Admission { kStarted, kWaits, kNoRoom };
  void plan_decodes();
  double prefill_share() const;
  void plan_prefill(Nanos now);
  std::vector<Candidate> prefill_order(Nanos now);
  Admission admit(Sequence& sequence, Nanos now);
  bool computed_by_other(Sequence& sequence, Nanos now);
  std::optional<Item> size_item(const Sequence& sequence, double budget_ns, uint32_t rows_left) const;
  void add_prefill(const Item& item, StepWork& work) const;
  uint32_t open_chunks() const;
  Batch make_batch();

  // paging.cc
  Result<void> fits_alone(uint32_t positions) const;
  Need need(const Running& run, uint32_t begin, uint32_t end) const;
  bool has_room_to(const Running& run, uint32_t target) const;
  bool make_room(Running& run, const Need& need);
  bool obtain(Sequence& sequence, uint32_t begin, uint32_t end);  // pages for an item; may preempt others
  void take(const Sequence& sequence, Running& run, uint32_t begin, uint32_t end);
  Sequence* victim_for(const Sequence& sequence);
  void preempt(Sequence& sequence);
  void settle(Sequence& sequence, Running& run);  // after `computed` has grown
  void keep_in_cache(const Sequence& sequence, Running& run);

  uint32_t page_count(uint32_t tokens) const { return (tokens + page_tokens - 1) / page_tokens; }

  const SchedulerConfig config;
  const uint32_t page_tokens;
  const uint32_t groups;
  const bool keeps_states;  // some group is recurrent: its checkpoints are at page ends
  std::vector<std::unique_ptr<PagePool>>& pools;
  PrefixCache& cache;
  EventSink& sink;

  std::map<RequestId, Sequence> sequences;  // all that are unfinished
  uint32_t running = 0;                     // of these, with pages
  uint64_t started = 0;
  SessionLedger ledger;
  CostModel cost;

  // The step being planned or in flight.
  bool in_flight = false;
  std::vector<Item> items;
  std::vector<Copy> copies;
  std::vector<const Sequence*> prefilling;  // while planning; may hold some preempted meanwhile
  StepWork work;
  uint32_t mixed_steps = 0;          // since the last step of decode alone
  std::vector<RequestId> abandoned;  // to be told to the executor with the next batch

  // Recent prefill speed: tokens through all layers, and the time of the steps they were in, both fading.
  double recent_tokens = 0, recent_seconds = 0;
  Stats counters;
};

}  // namespace reprise
