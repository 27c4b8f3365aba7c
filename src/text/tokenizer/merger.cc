// Design: ranks identify pairs, so a pair's rank alone says whether a candidate is still true. Short words:
// arrays and the smallest rank by scanning, which beats any queue. Long words (a client may send a megabyte
// of one letter): a linked list and a heap of (rank, position), stale entries dropped when they surface;
// every merge adds at most two entries.
#include "text/tokenizer/merger.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "base/check.h"

namespace reprise {
namespace {

constexpr size_t kShort = 48;  // symbols

}  // namespace

Result<Merger> Merger::create(const Vocabulary& vocabulary, const TokenTable& tokens) {
  Merger merger;
  merger.byte_tokens_.fill(-1);
  std::unordered_map<std::string_view, TokenId> ids;  // by letters
  ids.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (tokens.type(id) != TokenType::kNormal && tokens.type(id) != TokenType::kByte) continue;
    const bool first = ids.try_emplace(vocabulary.tokens[i], id).second;
    if (first && tokens.bytes(id).size() == 1) {
      TokenId& byte_token = merger.byte_tokens_[static_cast<uint8_t>(tokens.bytes(id)[0])];
      if (byte_token < 0) byte_token = id;
    }
  }

  const size_t count = vocabulary.merges.size();
  if (count > size_t{1} << 28) return invalid("the vocabulary has {} merges, too many to be true", count);
  const size_t slots = std::bit_ceil(std::max<size_t>(2 * count, 2));
  merger.slots_.resize(slots);
  merger.shift_ = 64 - std::countr_zero(slots);
  merger.merged_.reserve(count);
  std::string joint;
  for (uint32_t rank = 0; rank < count; ++rank) {
    const std::string_view merge = vocabulary.merges[rank];
    const size_t space = merge.find(' ');
    if (space == std::string_view::npos) return invalid("merge {} of the vocabulary is not two tokens", rank);
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    joint.assign(left).append(right);
    const auto left_id = ids.find(left);
    const auto right_id = ids.find(right);
    const auto joint_id = ids.find(joint);
    if (left_id == ids.end() || right_id == ids.end() || joint_id == ids.end()) {
      return invalid("merge {} of the vocabulary (\"{}\") names a token that it does not have", rank, merge);
    }
    merger.merged_.push_back(joint_id->second);
    merger.insert(left_id->second, right_id->second, rank);
  }
  return merger;
}

void Merger::insert(TokenId left, TokenId right, uint32_t rank) {
  const uint64_t pair = pair_of(left, right);
  size_t i = slot_of(pair);
  for (; slots_[i].rank != kNone; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].pair == pair) return;  // a repeated merge: the better rank stays
  }
  slots_[i] = {pair, rank};
}

uint32_t Merger::rank(TokenId left, TokenId right) const {
  const uint64_t pair = pair_of(left, right);
  for (size_t i = slot_of(pair);; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.pair == pair || slot.rank == kNone) return slot.rank;
  }
}

void Merger::merge(std::string_view word, std::vector<TokenId>& out) const {
  if (word.size() <= kShort) {
    TokenId tokens[kShort];
    size_t count = 0;
    for (const char c : word) {
      const TokenId token = byte_tokens_[static_cast<uint8_t>(c)];
      if (token >= 0) tokens[count++] = token;
    }
    merge_short(tokens, count, out);
  } else {
    std::vector<TokenId> tokens;
    tokens.reserve(word.size());
    for (const char c : word) {
      const TokenId token = byte_tokens_[static_cast<uint8_t>(c)];
      if (token >= 0) tokens.push_back(token);
    }
    merge_long(std::move(tokens), out);
  }
}

void Merger::merge_short(TokenId* tokens, size_t count, std::vector<TokenId>& out) const {
  uint32_t ranks[kShort];  // ranks[i]: of tokens[i] and tokens[i + 1]
  for (size_t i = 0; i + 1 < count; ++i) ranks[i] = rank(tokens[i], tokens[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == kNone) break;
    tokens[best] = merged_[ranks[best]];
    --count;
    std::memmove(tokens + best + 1, tokens + best + 2, (count - best - 1) * sizeof(TokenId));
    if (best + 1 < count) {
      std::memmove(ranks + best + 1, ranks + best + 2, (count - best - 2) * sizeof(uint32_t));
      ranks[best] = rank(tokens[best], tokens[best + 1]);
    }
    if (best > 0) ranks[best - 1] = rank(tokens[best - 1], tokens[best]);
  }
  out.insert(out.end(), tokens, tokens + count);
}

void Merger::merge_long(std::vector<TokenId> tokens, std::vector<TokenId>& out) const {
  CHECK(tokens.size() < kNone, "a word of {} bytes", tokens.size());
  const auto count = static_cast<uint32_t>(tokens.size());
  // The list: a symbol is named by the position it began at; kNone is no symbol.
  std::vector<uint32_t> next(count), previous(count);
  std::vector<uint32_t> ranks(count, kNone);  // of the symbol and its next one
  std::vector<uint64_t> heap;                 // rank << 32 | position, the smallest on top
  heap.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    previous[i] = i - 1;
    next[i] = i + 1 < count ? i + 1 : kNone;
    if (i + 1 < count) ranks[i] = rank(tokens[i], tokens[i + 1]);
    if (ranks[i] != kNone) heap.push_back(static_cast<uint64_t>(ranks[i]) << 32 | i);
  }
  const auto update = [&](uint32_t i) {
    ranks[i] = next[i] == kNone ? kNone : rank(tokens[i], tokens[next[i]]);
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
    tokens[left] = merged_[best];
    ranks[right] = kNone;
    next[left] = next[right];
    if (next[left] != kNone) previous[next[left]] = left;
    update(left);
    if (previous[left] != kNone) update(previous[left]);
  }
  for (uint32_t i = 0; i < count; i = next[i]) out.push_back(tokens[i]);
}

}  // namespace reprise
