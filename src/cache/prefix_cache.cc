// The public face: match and insert over the tree of radix_tree.h.
#include "cache/prefix_cache.h"

#include <algorithm>

#include "cache/radix_tree.h"

namespace reprise {

PrefixCache::PrefixCache(const KvSpec& spec, std::vector<std::unique_ptr<PagePool>>& pools)
    : tree_(std::make_unique<Tree>(spec, pools)) {}
PrefixCache::~PrefixCache() = default;

Match PrefixCache::match(const CacheKey& key, TokenSpan tokens) {
  Tree& tree = *tree_;
  const Path path = tree.walk(key, tokens);
  Match match{tree.usable(path), {}};
  match.pages = tree.pages(path, match.tokens);
  tree.touch(path);
  ++tree.stats.lookups;
  tree.stats.query_tokens += tokens.size();
  tree.stats.hit_tokens += match.tokens;
  return match;
}

uint32_t PrefixCache::match_length(const CacheKey& key, TokenSpan tokens) const {
  return tree_->usable(tree_->walk(key, tokens));
}

void PrefixCache::insert(const CacheKey& key, TokenSpan tokens, KvPages& pages) {
  Tree& tree = *tree_;
  const uint32_t n = static_cast<uint32_t>(tokens.size());
  if (n == 0) return;
  for (uint32_t g = 0; g < tree.groups; ++g) {
    if (tree.spec.groups[g].kind != KvKind::kFull) continue;
    for (uint32_t page = 0; page < tree.page_count(n); ++page)
      CHECK(pages[g].has(page), "page {} is missing", page);
  }
  const Path path = tree.grow(key, tokens);

  // Deepest first, so that a node takes over the page that the next one has for the page in which they meet.
  const Node* below = nullptr;
  for (size_t i = path.nodes.size(); i-- > 0;) {
    Node& node = *path.nodes[i];
    tree.unindex(&node);
    const uint32_t first = tree.first_page(node);
    for (uint32_t g = 0; g < tree.groups; ++g) {
      const bool state = tree.spec.groups[g].kind == KvKind::kState;
      for (uint32_t j = 0; j < node.slots[g].size(); ++j) {
        const uint32_t page = first + j;
        if (page * tree.page_tokens >= n) break;
        const Slot& slot = node.slots[g][j];
        if (!state && below && page == tree.first_page(*below)) {
          const Slot& deeper = below->slots[g][0];
          if (deeper.page) {
            tree.set_slot(node, g, j, {deeper.page, node.end()});
            continue;
          }
        }
        if (!pages[g].has(page)) continue;
        const uint32_t offered = std::min(n, tree.page_end(page));
        if (state) {
          if (offered <= node.begin || offered > node.end()) continue;
          if (!slot.page || slot.end != offered) {
            tree.set_slot(node, g, j, {pages[g][page], offered});
          } else {
            pages[g].set(page, slot.page.held_by(PageHolder::kSequence));
          }
          continue;
        }
        const uint32_t rows = std::min(offered, node.end());
        if (!slot.page || slot.end < rows) {
          tree.set_slot(node, g, j, {pages[g][page], rows});
        } else if (slot.end == tree.page_end(page) && offered == slot.end) {
          pages[g].set(page, slot.page.held_by(PageHolder::kSequence));
        }
      }
    }
    node.used = ++tree.clock;
    tree.index(&node);
    below = &node;
  }
}

CacheStats PrefixCache::stats() const { return tree_->stats; }
void PrefixCache::check() const { tree_->check(); }

}  // namespace reprise
