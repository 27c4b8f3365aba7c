// A bounded map from recent words to their tokens, shared by all threads without locks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "core/token.h"
#include "text/tokenizer/word_key.h"

namespace reprise {

// Direct-mapped: a word has one place, and the newest word that falls there keeps it. Each place is a
// sequence lock over one cache line. A reader that meets a writer sees a miss, a writer that meets another
// gives up; nobody ever waits. Fields are atomics (acquire loads, release stores: plain moves on x86), so
// there is no data race to excuse: whoever reads a field of a new word also sees that word's busy mark in
// `state` when it looks again.
class WordCache {
 public:
  static constexpr size_t kMaxTokens = 8;  // longer results are not kept
  using Tokens = std::array<TokenId, kMaxTokens>;

  explicit WordCache(int log2_slots)
      : mask_((size_t{1} << log2_slots) - 1), slots_(std::make_unique<Slot[]>(mask_ + 1)) {}

  // How many tokens of `key` were copied to `tokens`; 0: not here.
  size_t find(const WordKey& key, uint64_t hash, Tokens& tokens) const {
    const Slot& slot = slots_[hash & mask_];
    const uint64_t state = slot.state.load(std::memory_order_acquire);
    if ((state & kBusy) != 0 || length_of(state) != key.length) return 0;
    if (slot.key[0].load(std::memory_order_acquire) != key.a ||
        slot.key[1].load(std::memory_order_acquire) != key.b ||
        slot.key[2].load(std::memory_order_acquire) != key.c) {
      return 0;
    }
    const size_t count = count_of(state);
    for (size_t i = 0; i < count; i += 2) {
      const uint64_t two = slot.tokens[i / 2].load(std::memory_order_acquire);
      tokens[i] = static_cast<TokenId>(static_cast<uint32_t>(two));
      tokens[i + 1] = static_cast<TokenId>(two >> 32);
    }
    return slot.state.load(std::memory_order_relaxed) == state ? count : 0;
  }

  // 1 <= tokens.size() <= kMaxTokens.
  void insert(const WordKey& key, uint64_t hash, TokenSpan tokens) const {
    Slot& slot = slots_[hash & mask_];
    uint64_t state = slot.state.load(std::memory_order_relaxed);
    if ((state & kBusy) != 0) return;
    if (!slot.state.compare_exchange_strong(state, state | kBusy, std::memory_order_acq_rel)) return;
    slot.key[0].store(key.a, std::memory_order_release);
    slot.key[1].store(key.b, std::memory_order_release);
    slot.key[2].store(key.c, std::memory_order_release);
    for (size_t i = 0; i < tokens.size(); i += 2) {
      const uint64_t high = i + 1 < tokens.size() ? static_cast<uint32_t>(tokens[i + 1]) : 0;
      slot.tokens[i / 2].store(high << 32 | static_cast<uint32_t>(tokens[i]), std::memory_order_release);
    }
    const uint64_t version = (state >> 16) + 1;
    slot.state.store(version << 16 | uint64_t{key.length} << 8 | tokens.size() << 1,
                     std::memory_order_release);
  }

 private:
  // state: bit 0 busy, bits 1-7 token count, bits 8-15 word length, bits 16-63 version (so that no value
  // comes again).
  static constexpr uint64_t kBusy = 1;
  static uint32_t length_of(uint64_t state) { return (state >> 8) & 0xFF; }
  static size_t count_of(uint64_t state) { return (state >> 1) & 0x7F; }

  struct alignas(64) Slot {
    std::atomic<uint64_t> state{0};
    std::array<std::atomic<uint64_t>, 3> key{};
    std::array<std::atomic<uint64_t>, kMaxTokens / 2> tokens{};
  };
  static_assert(sizeof(Slot) == 64);

  size_t mask_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace reprise
