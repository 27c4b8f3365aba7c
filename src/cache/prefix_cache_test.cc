#include "cache/prefix_cache.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "cache/common_prefix.h"

namespace reprise {
namespace {

constexpr uint32_t kPage = 8;
const CacheKey kKey{"", 0, 1};

struct Cache {
  explicit Cache(std::vector<KvGroup> groups = {{KvKind::kFull, 0, 1}}, uint32_t pages = 64)
      : spec{kPage, std::move(groups)} {
    for (size_t g = 0; g < spec.groups.size(); ++g) pools.push_back(std::make_unique<PagePool>(pages));
    cache = std::make_unique<PrefixCache>(spec, pools);
  }
  ~Cache() {
    if (cache) cache->check();
  }
  // Pages as a sequence of so many tokens would hold them, all groups complete.
  KvPages compute(size_t tokens, KvPages pages = {}) {
    for (uint32_t g = 0; g < spec.groups.size(); ++g) {
      for (size_t page = 0; page < (tokens + kPage - 1) / kPage; ++page) {
        if (!pages[g].has(page)) pages[g].set(page, pools[g]->allocate());
      }
    }
    return pages;
  }
  void insert(TokenSpan tokens, const CacheKey& key = kKey) {
    KvPages pages = compute(tokens.size());
    cache->insert(key, tokens, pages);
    cache->check();
  }
  uint32_t length(TokenSpan tokens, const CacheKey& key = kKey) { return cache->match_length(key, tokens); }
  uint32_t used(uint32_t group = 0) { return pools[group]->total() - pools[group]->free(); }

  KvSpec spec;
  std::vector<std::unique_ptr<PagePool>> pools;
  std::unique_ptr<PrefixCache> cache;
};

std::vector<TokenId> iota(size_t count, TokenId first = 0) {
  std::vector<TokenId> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}
std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(PagePool, APageIsFreeWhenItsLastReferenceGoes) {
  PagePool pool(2);
  PageRef a = pool.allocate(), b = pool.allocate();
  EXPECT_NE(a.id(), b.id());
  EXPECT_FALSE(pool.allocate());
  PageRef cached = a.held_by(PageHolder::kCache), copy = cached;
  EXPECT_EQ(pool.cached(), 1u);
  EXPECT_EQ(pool.evictable(), 0u);
  a = {};
  EXPECT_EQ(pool.evictable(), 1u);
  EXPECT_TRUE(pool.shared(cached.id()));
  cached = PageRef();
  EXPECT_EQ(pool.free(), 0u);
  PageRef moved = std::move(copy);
  moved = b;  // drops the last reference
  EXPECT_EQ(pool.free(), 1u);
  EXPECT_EQ(moved.id(), b.id());
  pool.check();
}

TEST(PagePoolDeathTest, OutlivesItsReferences) {
  EXPECT_DEATH(
      {
        PageRef page;
        PagePool pool(1);
        page = pool.allocate();
        pool.~PagePool();
      },
      "still referenced");
}

TEST(CommonPrefix, AgreesWithTheObviousLoop) {
  for (size_t size : {0, 1, 255, 256, 257, 600}) {
    const std::vector<TokenId> a = iota(size);
    EXPECT_EQ(common_prefix(a, a), size);
    for (size_t at = 0; at < size; at += 51) {
      std::vector<TokenId> b = a + iota(3);
      b[at] = -1;
      EXPECT_EQ(common_prefix(a, b), at);
      EXPECT_EQ(common_prefix(b, a), at);
    }
  }
}

TEST(PrefixCache, MatchesToTheTokenAndSharesThePartlyUsedPage) {
  Cache c;
  KvPages pages = c.compute(20);
  c.cache->insert(kKey, iota(20), pages);
  Match match = c.cache->match(kKey, iota(13) + std::vector<TokenId>{99, 98});
  EXPECT_EQ(match.tokens, 13u);
  ASSERT_EQ(match.pages[0].size(), 2u);
  EXPECT_EQ(match.pages[0].ids()[1], pages[0].ids()[1]);
  EXPECT_EQ(c.length(iota(40)), 20u);
  EXPECT_EQ(c.length({}), 0u);
  const CacheStats stats = c.cache->stats();
  EXPECT_EQ(stats.lookups, 1u);
  EXPECT_EQ(stats.query_tokens, 15u);
  EXPECT_EQ(stats.hit_tokens, 13u);
  EXPECT_EQ(stats.tokens, 20u);
}

TEST(PrefixCache, RootsAreApart) {
  Cache c;
  c.insert(iota(10));
  EXPECT_EQ(c.length(iota(10), {"salt", 0, 1}), 0u);
  EXPECT_EQ(c.length(iota(10), {"", 1, 1}), 0u);
  EXPECT_EQ(c.length(iota(10), {"", 0, 2}), 0u);
  c.insert(iota(10), {"salt", 0, 1});
  EXPECT_EQ(c.used(), 4u);
  c.cache->evict(0, 4);
  EXPECT_EQ(c.cache->stats().nodes, 0u) << "roots go with their last child";
}

TEST(PrefixCache, AnExtensionReplacesThePartialPage) {
  Cache c;
  c.insert(iota(20));
  EXPECT_EQ(c.used(), 3u);
  c.insert(iota(30));
  EXPECT_EQ(c.used(), 4u) << "the pages of 30 tokens, nothing of the old last one";
  EXPECT_EQ(c.cache->stats().nodes, 2u) << "the root and one leaf";
  EXPECT_EQ(c.length(iota(30)), 30u);
}

TEST(PrefixCache, ABranchWithinAPageKeepsBothSides) {
  Cache c;
  c.insert(iota(20));
  c.insert(iota(13) + iota(10, 100));
  EXPECT_EQ(c.length(iota(20)), 20u);
  EXPECT_EQ(c.length(iota(13) + iota(10, 100)), 23u);
  EXPECT_EQ(c.length(iota(13) + iota(10, 200)), 13u);
  EXPECT_EQ(c.used(), 5u) << "1 shared; 2 and 2 apart";
  c.cache->match(kKey, iota(20));
  c.cache->evict(0, 2);  // the other branch
  EXPECT_EQ(c.length(iota(20)), 20u);
  EXPECT_EQ(c.length(iota(13) + iota(10, 100)), 13u);
  EXPECT_EQ(c.cache->stats().nodes, 2u) << "one child left: merged";
  EXPECT_EQ(c.used(), 3u);
}

TEST(PrefixCache, DuplicatesAreExchangedForTheCachesPages) {
  Cache c;
  KvPages first = c.compute(20), second = c.compute(20);
  c.cache->insert(kKey, iota(20), first);
  c.cache->insert(kKey, iota(20), second);
  EXPECT_EQ(second[0].ids()[0], first[0].ids()[0]);
  EXPECT_EQ(second[0].ids()[1], first[0].ids()[1]);
  EXPECT_NE(second[0].ids()[2], first[0].ids()[2])
      << "partly filled: its holder may go on writing to its own";
}

TEST(PrefixCache, EvictsTheLeastRecentlyUsedLeafFromItsTail) {
  Cache c;
  c.insert(iota(32));
  c.insert(iota(32, 1000));
  c.cache->match(kKey, iota(32));
  EXPECT_EQ(c.cache->evict(0, 1), 1u);
  EXPECT_EQ(c.length(iota(32)), 32u);
  EXPECT_EQ(c.length(iota(32, 1000)), 24u);
  EXPECT_EQ(c.cache->evict(0, 4), 4u);
  EXPECT_EQ(c.length(iota(32)), 24u);
  EXPECT_EQ(c.length(iota(32, 1000)), 0u);
  EXPECT_EQ(c.cache->stats().evicted_pages, 5u);
  EXPECT_EQ(c.cache->stats().evicted_tokens, 40u);
}

TEST(PrefixCache, NeverEvictsWhatASequenceUses) {
  Cache c;
  c.insert(iota(32));
  c.insert(iota(16, 1000));
  Match match = c.cache->match(kKey, iota(20));
  EXPECT_EQ(c.pools[0]->evictable(), 3u);
  EXPECT_EQ(c.cache->evict(0, 100), 3u);
  EXPECT_EQ(c.length(iota(32)), 24u);
  match = {};
  EXPECT_EQ(c.cache->evict(0, 100), 3u);
  EXPECT_EQ(c.used(), 0u);
}

TEST(PrefixCache, AWindowNeedsItsLastTokensOnly) {
  Cache c({{KvKind::kFull, 0, 1}, {KvKind::kWindow, 10, 1}});
  KvPages pages = c.compute(40);
  for (size_t page = 0; page < 3; ++page) pages[1].set(page, {});  // has slid past them
  c.cache->insert(kKey, iota(40), pages);
  EXPECT_EQ(c.length(iota(40)), 40u);
  EXPECT_EQ(c.length(iota(34)), 34u);
  EXPECT_EQ(c.length(iota(33)), 0u) << "position 23 is needed";
  Match match = c.cache->match(kKey, iota(40));
  EXPECT_FALSE(match.pages[1].has(2));
  EXPECT_TRUE(match.pages[1].has(3) && match.pages[1].has(4));
  match = {};
  pages = {};
  c.insert(iota(24));  // fills the holes
  EXPECT_EQ(c.length(iota(33)), 33u);
  EXPECT_EQ(c.cache->evict(1, 2), 2u) << "window pages go alone, the earliest first";
  EXPECT_EQ(c.cache->evict(1, 100), 3u);
  EXPECT_EQ(c.length(iota(40)), 0u);
  EXPECT_EQ(c.cache->stats().tokens, 40u);
}

TEST(PrefixCache, AStateIsUsableAtItsCheckpointsOnly) {
  Cache c({{KvKind::kFull, 0, 1}, {KvKind::kState, 0, 1}});
  KvPages pages = c.compute(21);
  pages[1].set(0, {});  // states after 16 and 21 tokens remain
  c.cache->insert(kKey, iota(21), pages);
  EXPECT_EQ(c.length(iota(40)), 21u);
  EXPECT_EQ(c.length(iota(20)), 16u);
  EXPECT_EQ(c.length(iota(15)), 0u);
  Match match = c.cache->match(kKey, iota(20));
  EXPECT_EQ(match.pages[1].ids()[1], pages[1].ids()[1]);
  EXPECT_FALSE(match.pages[1].has(0));
  c.insert(iota(18) + iota(10, 100));  // a branch keeps the states on their sides
  EXPECT_EQ(c.length(iota(21)), 21u);
  EXPECT_EQ(c.length(iota(18) + iota(10, 100)), 28u);
  EXPECT_EQ(c.length(iota(18)), 16u);
}

TEST(PrefixCache, DraftsAreOptional) {
  Cache c({{KvKind::kFull, 0, 1}, {KvKind::kDraft, 0, 1}});
  c.insert(iota(30));
  EXPECT_EQ(c.cache->match(kKey, iota(30)).pages[1].size(), 4u);
  c.cache->evict(1, 1);
  Match match = c.cache->match(kKey, iota(30));
  EXPECT_EQ(match.tokens, 30u);
  EXPECT_EQ(match.pages[1].size(), 0u) << "complete or empty";
}

// Against the obvious model: the longest common prefix with anything inserted. Then with eviction: never more
// than that, and exactly as many pages as asked for, while there are any.
TEST(PrefixCache, AgreesWithABruteForceModel) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Cache c({{KvKind::kFull, 0, 1}}, 4000);
    std::mt19937_64 random(seed);
    std::vector<std::vector<TokenId>> inserted;
    auto some = [&] {
      std::vector<TokenId> tokens;
      if (!inserted.empty() && random() % 4) {
        const auto& base = inserted[random() % inserted.size()];
        tokens.assign(base.begin(), base.begin() + static_cast<long>(random() % (base.size() + 1)));
      }
      for (size_t n = 1 + random() % 25; n > 0; --n) tokens.push_back(static_cast<TokenId>(random() % 3));
      return tokens;
    };
    auto longest = [&](TokenSpan tokens) {
      size_t best = 0;
      for (const auto& each : inserted) best = std::max(best, common_prefix(each, tokens));
      return best;
    };
    for (int i = 0; i < 120; ++i) {
      inserted.push_back(some());
      c.insert(inserted.back());
      const std::vector<TokenId> query = some();
      EXPECT_EQ(c.length(query), longest(query));
    }
    while (c.used() > 0) {
      const uint32_t want = std::min<uint32_t>(c.used(), 1 + random() % 9);
      EXPECT_EQ(c.cache->evict(0, want), want);
      c.cache->check();
      const std::vector<TokenId> query = some();
      EXPECT_LE(c.length(query), longest(query));
    }
    EXPECT_EQ(c.cache->stats().tokens, 0u);
  }
}

}  // namespace
}  // namespace reprise
