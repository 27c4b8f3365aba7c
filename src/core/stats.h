// A snapshot of the engine's counters and gauges, published after every step. Counters only grow.
#pragma once

#include <cstdint>

namespace reprise {

struct Stats {
  // gauges
  uint32_t running = 0;        // sequences holding pages
  uint32_t waiting = 0;        // accepted, not yet holding pages (preempted ones included)
  uint64_t queued_tokens = 0;  // prompt tokens accepted and not yet computed
  uint32_t pages_total = 0;    // of the first KV group
  uint32_t pages_free = 0;
  uint32_t pages_cached = 0;  // held by the prefix cache alone: evictable
  uint32_t page_tokens = 0;
  double prefill_tokens_per_s = 0;  // recent speed; 0 until known
  // counters
  uint64_t steps = 0;
  uint64_t prefill_tokens = 0;  // computed (not cached)
  uint64_t decode_tokens = 0;
  uint64_t cache_query_tokens = 0;  // prompt tokens looked up
  uint64_t cache_hit_tokens = 0;
  uint64_t preemptions = 0;
  uint64_t evicted_pages = 0;
};

}  // namespace reprise
