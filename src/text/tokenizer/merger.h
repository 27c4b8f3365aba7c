// Byte-pair merging (Sennrich et al. 2016): the bytes of a word become tokens, and of all neighbours that
// some merge joins, the pair of the best merge, leftmost first, is joined until none is left.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/vocabulary.h"
#include "text/tokenizer/token_table.h"

namespace reprise {

class Merger {
 public:
  // kInvalid: a merge that is not two tokens and their joint token.
  static Result<Merger> create(const Vocabulary& vocabulary, const TokenTable& tokens);

  // Appends the tokens of `word` to `out`; O(n log n). Bytes that have no token are left out first, as
  // Hugging Face's BPE without an unknown token does. Any thread.
  void merge(std::string_view word, std::vector<TokenId>& out) const;

  TokenId byte_token(uint8_t byte) const { return byte_tokens_[byte]; }  // -1: none

 private:
  static constexpr uint32_t kNone = UINT32_MAX;  // no merge: after every rank
  struct Slot {
    uint64_t pair = 0;
    uint32_t rank = kNone;
  };

  static uint64_t pair_of(TokenId left, TokenId right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u) >> shift_; }
  uint32_t rank(TokenId left, TokenId right) const;
  void insert(TokenId left, TokenId right, uint32_t rank);
  void merge_short(TokenId* tokens, size_t count, std::vector<TokenId>& out) const;
  void merge_long(std::vector<TokenId> tokens, std::vector<TokenId>& out) const;

  std::array<TokenId, 256> byte_tokens_;
  std::vector<Slot> slots_;      // open addressing, at most half full
  int shift_ = 0;                // 64 - log2(slots_.size())
  std::vector<TokenId> merged_;  // by rank
};

}  // namespace reprise
