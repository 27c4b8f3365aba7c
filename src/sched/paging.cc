// Pages of running sequences: what an item needs, how room is made for it, preemption, and what goes to the
// cache.
//
// Writing rule: a sequence writes only to pages that nobody else refers to. Whole pages may be shared; the
// partly used last page of a match is copied to a fresh one before the first write (need(), take()).
//
// Progress: pages come from the free list, then from evicted cache pages, then from a preempted sequence. The
// order of first starts ranks sequences; a sequence may preempt blocked and later ones only, so the first
// unblocked one gets whatever the others and the cache hold, and fits_alone() made sure at add() that this is
// enough.
#include <algorithm>

#include "sched/state.h"

namespace reprise {

Result<void> Scheduler::State::fits_alone(uint32_t positions) const {
  for (uint32_t g = 0; g < groups; ++g) {
    const KvGroup& group = config.kv.groups[g];
    uint32_t pages = page_count(positions);
    if (group.kind == KvKind::kWindow) {
      pages = std::min(pages, page_count(group.window) + page_count(config.chunk_tokens) + 2);
    }
    if (group.kind == KvKind::kState) pages = std::min(pages, 2u);
    if (group.kind == KvKind::kDraft) pages = 0;
    if (pages > pools[g]->total()) {
      return reprise::fail(
          ErrorKind::kTooLarge,
          "the prompt and max_tokens need {} KV pages of {} tokens, but only {} exist: shorten the "
          "prompt, lower "
          "max_tokens, or start the server with more --kv-memory",
          pages, page_tokens, pools[g]->total());
    }
  }
  return {};
}

Scheduler::State::Need Scheduler::State::need(const Running& run, uint32_t begin, uint32_t end) const {
  Need need{};
  for (uint32_t g = 0; g < groups; ++g) {
    const KvKind kind = config.kv.groups[g].kind;
    if (kind == KvKind::kDraft && !run.drafting) continue;
    const PageTable& table = run.pages[g];
    const uint32_t last = (end - 1) / page_tokens;
    for (uint32_t page = kind == KvKind::kState ? last : begin / page_tokens; page <= last; ++page) {
      need[g] += !table.has(page) || pools[g]->shared(table[page].id());
    }
  }
  return need;
}

// Whether all of [0, target) would fit now, with a page to spare for every running sequence: starting a
// sequence only to preempt it soon wastes work.
bool Scheduler::State::has_room_to(const Running& run, uint32_t target) const {
  const Need whole = need(run, run.computed, target);
  for (uint32_t g = 0; g < groups; ++g) {
    const KvGroup& group = config.kv.groups[g];
    uint32_t pages = whole[g];
    if (group.kind == KvKind::kFull) pages += running;
    if (group.kind == KvKind::kWindow) {
      pages = std::min(pages, page_count(group.window) + page_count(config.chunk_tokens) + 2);
    }
    if (group.kind == KvKind::kState) pages = std::max(pages, 1u);
    if (group.kind == KvKind::kDraft) pages = 0;
    if (pages > pools[g]->free() + pools[g]->evictable()) return false;
  }
  return true;
}

// By eviction alone. Draft pages are a luxury: without room for them the sequence goes on without drafting.
bool Scheduler::State::make_room(Running& run, const Need& need) {
  bool room = true;
  for (uint32_t g = 0; g < groups; ++g) {
    const PagePool& pool = *pools[g];
    if (pool.free() < need[g]) cache.evict(g, need[g] - pool.free());
    if (pool.free() >= need[g]) continue;
    if (config.kv.groups[g].kind == KvKind::kDraft) {
      run.drafting = false;
      run.pages[g].resize(0);
    } else {
      room = false;
    }
  }
  return room;
}

bool Scheduler::State::obtain(Sequence& sequence, uint32_t begin, uint32_t end) {
  Running& run = *sequence.running();
  while (!make_room(run, need(run, begin, end))) {
    Sequence* victim = victim_for(sequence);
    if (!victim) return false;
    preempt(*victim);
  }
  take(sequence, run, begin, end);
  return true;
}

void Scheduler::State::take(const Sequence& sequence, Running& run, uint32_t begin, uint32_t end) {
  for (uint32_t g = 0; g < groups; ++g) {
    const KvKind kind = config.kv.groups[g].kind;
    if (kind == KvKind::kDraft && !run.drafting) continue;
    PageTable& table = run.pages[g];
    const uint32_t last = (end - 1) / page_tokens;
    for (uint32_t page = kind == KvKind::kState ? last : begin / page_tokens; page <= last; ++page) {
      if (table.has(page) && !pools[g]->shared(table[page].id())) continue;
      PageRef fresh = pools[g]->allocate();
      CHECK(fresh, "no page in group {} although there was room", g);
      if (table.has(page)) copies.push_back({&sequence, g, table[page], fresh.id()});
      table.set(page, std::move(fresh));
    }
  }
}

// Blocked sequences first, then the latest started, never one that started before `sequence`.
Sequence* Scheduler::State::victim_for(const Sequence& sequence) {
  Sequence* victim = nullptr;
  auto better = [](const Sequence& a, const Sequence& b) {
    return a.blocked != b.blocked ? a.blocked : a.start_order > b.start_order;
  };
  for (auto& [id, other] : sequences) {
    if (&other == &sequence || !other.running()) continue;
    if (!other.blocked && other.start_order < sequence.start_order) continue;
    if (!victim || better(other, *victim)) victim = &other;
  }
  return victim;
}

void Scheduler::State::preempt(Sequence& sequence) {
  Running& run = *sequence.running();
  // It may be part of the step being planned: then its page copies have not happened, and it has computed
  // nothing since its match.
  std::erase_if(items, [&](const Item& item) { return item.sequence == &sequence; });
  const bool untouched = std::erase_if(copies, [&](const Copy& copy) { return copy.owner == &sequence; }) > 0;
  if (run.chunk) abandoned.push_back(sequence.id);
  if (!untouched) keep_in_cache(sequence, run);
  sequence.state = Preempted{};
  sequence.estimated = false;
  ++sequence.preemptions;
  ++counters.preemptions;
  --running;
}

void Scheduler::State::settle(Sequence& sequence, Running& run) {
  for (uint32_t g = 0; g < groups; ++g) {  // earlier states are stale, or already in the cache
    if (config.kv.groups[g].kind != KvKind::kState) continue;
    const uint32_t last = (run.computed - 1) / page_tokens;
    for (uint32_t page = 0; page < last; ++page) {
      if (run.pages[g].has(page)) run.pages[g].set(page, {});
    }
  }
  const uint32_t whole = run.computed / page_tokens * page_tokens;
  if (std::holds_alternative<Prefilling>(sequence.state) && whole > run.shared) {
    cache.insert(sequence.key, TokenSpan(sequence.tokens).first(whole), run.pages);
    run.shared = whole;
  }
  for (uint32_t g = 0; g < groups; ++g) {
    const KvGroup& group = config.kv.groups[g];
    if (group.kind != KvKind::kWindow || run.computed <= group.window) continue;
    for (uint32_t page = (run.computed - group.window) / page_tokens; page-- > 0 && run.pages[g].has(page);) {
      run.pages[g].set(page, {});
    }
  }
}

// Everything computed, the partly filled last page included. The sequence must not write to its pages
// afterwards.
void Scheduler::State::keep_in_cache(const Sequence& sequence, Running& run) {
  if (run.computed == 0) return;
  if (run.chunk) {  // a state that is being overwritten in place is no longer that at `computed`
    const uint32_t last = (run.computed - 1) / page_tokens;
    for (uint32_t g = 0; g < groups; ++g) {
      if (config.kv.groups[g].kind == KvKind::kState && (run.chunk->end - 1) / page_tokens == last) {
        run.pages[g].set(last, {});
      }
    }
  }
  cache.insert(sequence.key, TokenSpan(sequence.tokens).first(run.computed), run.pages);
}

}  // namespace reprise
