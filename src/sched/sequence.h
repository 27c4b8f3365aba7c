// One request as the scheduler sees it: what it always has, and a state that owns exactly what exists in that
// state.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cache/page_table.h"
#include "cache/prefix_cache.h"
#include "core/event.h"
#include "core/generation.h"
#include "core/token.h"
#include "sched/session_ledger.h"

namespace reprise {

// Positions [begin, end) whose layers [0, layer) are done, 0 < layer < all.
struct OpenChunk {
  uint32_t begin = 0, end = 0, layer = 0;
};

// What every running state owns.
struct Running {
  KvPages pages;
  uint32_t computed = 0;  // positions [0, computed) have KV in all layers
  uint32_t shared = 0;    // of these, positions known to the prefix cache (whole pages)
  bool drafting = true;   // draft pages are complete
  std::optional<OpenChunk> chunk;
};

struct Queued {};
struct Prefilling {
  Running run;
};
struct Decoding {  // all but the newest token computed
  Running run;
};
struct Preempted {};
struct Ending {  // to be finished at the commit of the step in flight, which writes to its pages
  Running run;
  FinishReason reason;
  Error error;
};

struct Sequence {
  RequestId id = 0;
  SamplingParams sampling;
  std::vector<TokenId> stop_tokens;
  std::vector<TokenId> tokens;  // prompt, then output
  uint32_t prompt_size = 0;
  uint32_t max_tokens = 0, min_tokens = 0;
  int32_t prompt_logprobs = -1;
  uint32_t scored = 0;  // the log-probabilities of tokens [1, scored + 1) have been told
  CacheKey key;
  SessionLedger::Key session;
  bool blocked = false;
  bool in_step = false;        // part of the step in flight
  uint64_t start_order = 0;    // when it first started, among all; 0 = not yet
  uint32_t cached_tokens = 0;  // at the first start
  uint32_t outputs = 0;        // sampled tokens, a final stop token included
  uint32_t preemptions = 0;
  Nanos arrived = 0, started = 0, first_token = 0;
  // For the order of waiting sequences: tokens that the cache would spare, as of `estimated_at`.
  uint32_t cached_estimate = 0;
  Nanos estimated_at = 0;
  bool estimated = false;
  // Another sequence that computes the same prefix, how many leading tokens they share, and how long to wait
  // for it.
  RequestId leader = 0;
  uint32_t leader_common = 0;
  std::optional<Nanos> wait_until;

  std::variant<Queued, Prefilling, Decoding, Preempted, Ending> state;

  Running* running() {
    if (auto* prefilling = std::get_if<Prefilling>(&state)) return &prefilling->run;
    if (auto* decoding = std::get_if<Decoding>(&state)) return &decoding->run;
    if (auto* ending = std::get_if<Ending>(&state)) return &ending->run;
    return nullptr;
  }
  const Running* running() const { return const_cast<Sequence*>(this)->running(); }
  bool waiting() const {
    return std::holds_alternative<Queued>(state) || std::holds_alternative<Preempted>(state);
  }
  uint32_t size() const { return static_cast<uint32_t>(tokens.size()); }
  bool scoring() const { return prompt_logprobs >= 0 && scored + 1 < prompt_size; }
  // How many leading tokens the cache may spare it: the last one's logits are needed, and those of all whose
  // next token is to be scored.
  TokenSpan usable() const { return TokenSpan(tokens).first(scoring() ? scored : size() - 1); }
};

}  // namespace reprise
