// Design: a candidate is a rank and a position; it is true as long as the pair at that position still has
// that rank. Short words: arrays and the smallest rank by scanning, which beats any queue. Long words (a
// client may send a megabyte of one letter): a linked list and a heap of (rank, position), stale entries
// dropped when they surface; every merge adds at most two entries.
#include "text/tokenizer/merger.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace reprise {
namespace {

constexpr size_t kShort = 48;  // symbols

}  // namespace

Merger::Merger(std::span<const Merge> merges) {
  slots_.resize(std::bit_ceil(std::max<size_t>(2 * merges.size(), 2)));
  shift_ = 64 - std::countr_zero(slots_.size());
  for (const Merge& merge : merges) {
    const uint64_t pair = pair_of(merge.left, merge.right);
    size_t i = slot_of(pair);
    while (slots_[i].rank != kNone && slots_[i].pair != pair) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {pair, merge.rank, merge.joint};
  }
}

void Merger::merge(std::span<TokenId> symbols, std::vector<TokenId>& out) const {
  if (symbols.size() <= kShort) {
    merge_short(symbols, out);
  } else {
    merge_long(symbols, out);
  }
}

void Merger::merge_short(std::span<TokenId> symbols, std::vector<TokenId>& out) const {
  TokenId* const tokens = symbols.data();
  size_t count = symbols.size();
  uint32_t ranks[kShort];  // of tokens[i] and tokens[i + 1], and what they join to
  TokenId joints[kShort];
  const auto look_up = [&](size_t i) {
    const Slot& slot = find(tokens[i], tokens[i + 1]);
    ranks[i] = slot.rank;
    joints[i] = slot.joint;
  };
  for (size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == kNone) break;
    tokens[best] = joints[best];
    --count;
    std::memmove(tokens + best + 1, tokens + best + 2, (count - best - 1) * sizeof(TokenId));
    if (best + 1 < count) {
      std::memmove(ranks + best + 1, ranks + best + 2, (count - best - 2) * sizeof(uint32_t));
      std::memmove(joints + best + 1, joints + best + 2, (count - best - 2) * sizeof(TokenId));
      look_up(best);
    }
    if (best > 0) look_up(best - 1);
  }
  out.insert(out.end(), tokens, tokens + count);
}

void Merger::merge_long(std::span<TokenId> symbols, std::vector<TokenId>& out) const {
  CHECK(symbols.size() < kNone, "a word of {} symbols", symbols.size());
  const auto count = static_cast<uint32_t>(symbols.size());
  // The list: a symbol is named by the position it began at; kNone is no symbol.
  std::vector<uint32_t> next(count), previous(count);
  std::vector<uint32_t> ranks(count, kNone);  // of the symbol and its next one
  std::vector<uint64_t> heap;                 // rank << 32 | position, the smallest on top
  heap.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    previous[i] = i - 1;
    next[i] = i + 1 < count ? i + 1 : kNone;
    if (i + 1 < count) ranks[i] = find(symbols[i], symbols[i + 1]).rank;
    if (ranks[i] != kNone) heap.push_back(static_cast<uint64_t>(ranks[i]) << 32 | i);
  }
  const auto update = [&](uint32_t i) {
    ranks[i] = next[i] == kNone ? kNone : find(symbols[i], symbols[next[i]]).rank;
    if (ranks[i] == kNone) return;
    heap.push_back(static_cast<uint64_t>(ranks[i]) << 32 | i);
    std::ranges::push_heap(heap, std::greater{});
  };
  std::ranges::make_heap(heap, std::greater{});
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, std::greater{});
    const auto best = static_cast<uint32_t>(heap.back() >> 32);
    const auto left = static_cast<uint32_t>(heap.back());
    heap.pop_back();
    if (ranks[left] != best) continue;  // one of the two has been merged since
    const uint32_t right = next[left];
    symbols[left] = find(symbols[left], symbols[right]).joint;
    ranks[right] = kNone;
    next[left] = next[right];
    if (next[left] != kNone) previous[next[left]] = left;
    update(left);
    if (previous[left] != kNone) update(previous[left]);
  }
  for (uint32_t i = 0; i < count; i = next[i]) out.push_back(symbols[i]);
}

}  // namespace reprise
