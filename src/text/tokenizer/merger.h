// Byte-pair merging (Sennrich et al. 2016): of all neighbours that some merge joins, the pair of the best
// merge, leftmost first, is joined until none is left. Knows token ids only; what a word's first symbols are
// is its caller's.
#pragma once

#include <span>
#include <vector>

#include "core/token.h"

namespace reprise {

class Merger {
 public:
  struct Merge {
    TokenId left, right, joint;
    uint32_t rank;  // the lowest joins first; several merges may share one
  };
  explicit Merger(std::span<const Merge> merges);  // of several merges of one pair the last counts

  // Appends what is left of `symbols`, which it overwrites, to `out`; O(n log n). Any thread.
  void merge(std::span<TokenId> symbols, std::vector<TokenId>& out) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;  // no merge: after every rank
  struct Slot {
    uint64_t pair = 0;
    uint32_t rank = kNone;
    TokenId joint = -1;
  };

  static uint64_t pair_of(TokenId left, TokenId right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u) >> shift_; }
  const Slot& find(TokenId left, TokenId right) const {
    const uint64_t pair = pair_of(left, right);
    for (size_t i = slot_of(pair);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.pair == pair || slot.rank == kNone) return slot;
    }
  }
  void merge_short(std::span<TokenId> symbols, std::vector<TokenId>& out) const;
  void merge_long(std::span<TokenId> symbols, std::vector<TokenId>& out) const;

  std::vector<Slot> slots_;  // open addressing, at most half full
  int shift_ = 0;            // 64 - log2(slots_.size())
};

}  // namespace reprise
