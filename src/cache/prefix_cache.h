// Remembers the KV pages of token sequences, so that a request which begins like an earlier one computes only
// the rest.
//
// A radix tree over tokens (Zheng et al. 2024, "SGLang", RadixAttention), shared by all requests under one
// root per {salt, adapter, model fingerprint}. Matches are exact to the token: a page that is only partly
// covered by the match is returned too, and its user copies it before writing. Each node holds its pages per
// KV group. Full attention pages are always there; window, state and draft pages may be missing, and a match
// is the longest position at which every group has what is needed to go on (drafts are optional):
//   full        every page           window(w)   the pages of the last w positions
//   state       the state at exactly that position (a checkpoint)
// Eviction: least recently used leaves lose their tail, page by page; window, state and draft pages can also
// go alone. A page that a sequence uses is never evicted. Engine thread only.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/page_pool.h"
#include "cache/page_table.h"
#include "core/kv.h"
#include "core/token.h"

namespace reprise {

struct CacheKey {
  std::string salt;
  uint64_t adapter = 0;      // 0 = none
  uint64_t fingerprint = 0;  // ModelInfo::fingerprint
  auto operator<=>(const CacheKey&) const = default;
};

struct Match {
  uint32_t tokens = 0;  // leading tokens whose KV is at hand
  // ceil(tokens / page_tokens) entries a group, held for a sequence. When tokens is not a multiple of
  // page_tokens the last entry of each table is shared and only partly of use: copy it before writing on.
  // Draft tables are complete or empty; window and state tables hold only what is needed.
  KvPages pages;
};

struct CacheStats {
  uint64_t nodes = 0;
  uint64_t tokens = 0;        // held now
  uint64_t lookups = 0;       // match() calls
  uint64_t query_tokens = 0;  // tokens looked up
  uint64_t hit_tokens = 0;    // tokens matched
  uint64_t inserted_tokens = 0;
  uint64_t evicted_tokens = 0;
  uint64_t evicted_pages = 0;  // freed by evict(), all groups
};

class PrefixCache {
 public:
  // `pools`: one per group of `spec`; they outlive the cache.
  PrefixCache(const KvSpec& spec, std::vector<std::unique_ptr<PagePool>>& pools);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  // The longest usable prefix of `tokens`; marks it as used. O(tokens) at the speed of memcmp.
  Match match(const CacheKey& key, TokenSpan tokens);
  // How long match() would be: takes and marks nothing.
  uint32_t match_length(const CacheKey& key, TokenSpan tokens) const;

  // Remembers tokens [0, n), n = tokens.size(), whose KV is in `pages`: rows [0, n) of every full table must
  // be there; a state table's entry i is the state at min(n, (i + 1) * page_tokens). Pages past n are
  // ignored. Where the cache already holds equal whole pages of a full group, the caller's references are
  // exchanged for the cache's, so that duplicates are freed. A partly filled last page is remembered up to n
  // and must not be written at or past n by anyone who keeps it shared.
  void insert(const CacheKey& key, TokenSpan tokens, KvPages& pages);

  // Frees at least `pages` pages of `group` if as many are evictable; returns how many it freed (at times a
  // few more).
  uint32_t evict(uint32_t group, uint32_t pages);

  CacheStats stats() const;
  // Aborts unless every invariant of the tree, the counts and the LRU order holds. O(everything): for tests.
  void check() const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace reprise
