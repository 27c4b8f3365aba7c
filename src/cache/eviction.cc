// Making room: O(log nodes) and one page at a time.
//
// Full attention: the least recently used leaf loses its tail pages, so what is left is still a prefix. A
// page that a sequence uses stops that; the leaf then counts as just used and goes to the end of the order,
// so pinned leaves are not looked at again and again. The other groups: the least recently used node that has
// pages of the group loses them, earliest positions first (a window's and a state's latest are the useful
// ones).
#include <algorithm>

#include "cache/radix_tree.h"

namespace reprise {

uint32_t PrefixCache::evict(uint32_t group, uint32_t pages) {
  Tree& tree = *tree_;
  CHECK(group < tree.groups);
  const PagePool& pool = *tree.pools[group];
  uint64_t free_before = 0, free_after = 0;
  for (const auto& each : tree.pools) free_before += each->free();
  const uint32_t before = pool.free(), target = before + pages;

  const bool full = tree.spec.groups[group].kind == KvKind::kFull;
  std::map<uint64_t, Node*>& order = full ? tree.leaves : tree.holders[group];
  size_t pinned = 0;  // in a row
  while (pool.free() < target && pinned < order.size()) {
    Node* node = order.begin()->second;
    pinned = (full ? tree.trim(node, group, target) : tree.drop_slots(node, group, target)) ? 0 : pinned + 1;
  }
  for (const auto& each : tree.pools) free_after += each->free();
  tree.stats.evicted_pages += free_after - free_before;
  return pool.free() - before;
}

// Cuts tail pages off a leaf until the pool has `target_free`, a page is in use, or the leaf is gone. False
// when not one could be cut: the leaf has then been moved to the end of the order.
bool PrefixCache::Tree::trim(Node* leaf, uint32_t group, uint32_t target_free) {
  const TokenId first_token = leaf->tokens[0];
  auto in_use = [&] {
    for (uint32_t g = 0; g < groups; ++g) {
      if (spec.groups[g].kind == KvKind::kFull && pools[g]->used_by_sequence(leaf->slots[g].back().page.id()))
        return true;
    }
    return false;
  };
  unindex(leaf);
  bool cut = false;
  while (!leaf->tokens.empty() && pools[group]->free() < target_free && !in_use()) {
    const uint32_t last_page = (leaf->end() - 1) / page_tokens;
    const uint32_t keep = std::max(last_page * page_tokens, leaf->begin) - leaf->begin;
    stats.tokens -= leaf->tokens.size() - keep;
    stats.evicted_tokens += leaf->tokens.size() - keep;
    leaf->tokens.resize(keep);
    resize_slots(*leaf);
    if (keep == 0) {  // the page in which the leaf begins may remain as its parent's
      for (uint32_t g = 0; g < groups; ++g) leaf->slots[g].clear();
    }
    cut = true;
  }
  if (leaf->tokens.empty()) {
    remove_leaf(leaf, first_token);
    return true;
  }
  if (!cut) leaf->used = ++clock;
  index(leaf);
  return cut;
}

bool PrefixCache::Tree::drop_slots(Node* node, uint32_t group, uint32_t target_free) {
  unindex(node);
  bool dropped = false;
  for (size_t j = 0; j < node->slots[group].size() && pools[group]->free() < target_free; ++j) {
    const PageRef& page = node->slots[group][j].page;
    if (!page || pools[group]->used_by_sequence(page.id())) continue;
    set_slot(*node, group, j, {});
    dropped = true;
  }
  if (!dropped) node->used = ++clock;
  index(node);
  return dropped;
}

}  // namespace reprise
