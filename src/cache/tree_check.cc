// Verifies the invariants stated in radix_tree.cc and radix_tree.h.
#include <algorithm>

#include "cache/radix_tree.h"

namespace reprise {

void PrefixCache::Tree::check() const {
  uint64_t nodes = 0, tokens = 0, leaf_count = 0;
  std::array<uint64_t, kMaxKvGroups> holder_count{};
  std::vector<std::vector<uint32_t>> references;
  for (uint32_t g = 0; g < groups; ++g) references.emplace_back(pools[g]->total());

  std::vector<const Node*> pending;
  for (const auto& [key, root] : roots) {
    CHECK(root->key == &key && !root->parent && root->begin == 0 && root->tokens.empty() && !root->leaf());
    pending.push_back(root.get());
  }
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    ++nodes;
    tokens += node->tokens.size();
    for (const auto& [token, child] : node->children) {
      CHECK(child->parent == node && child->begin == node->end() && !child->tokens.empty() &&
            child->tokens[0] == token);
      pending.push_back(child.get());
    }
    if (!node->parent) continue;
    CHECK(node->children.size() != 1, "an inner node with one child");
    CHECK(node->used <= clock);
    auto in_order = [&](const std::map<uint64_t, Node*>& order) {
      auto it = order.find(node->used);
      return it != order.end() && it->second == node;
    };
    CHECK(in_order(leaves) == node->leaf());
    leaf_count += node->leaf();
    for (uint32_t g = 0; g < groups; ++g) {
      const KvKind kind = spec.groups[g].kind;
      CHECK(node->slots[g].size() == page_count(node->end()) - first_page(*node));
      uint32_t held = 0;
      for (uint32_t j = 0; j < node->slots[g].size(); ++j) {
        const Slot& slot = node->slots[g][j];
        const uint32_t page = first_page(*node) + j, last = std::min(node->end(), page_end(page));
        CHECK(slot.page || kind != KvKind::kFull, "a full attention page is missing");
        if (!slot.page) continue;
        ++held;
        ++references[g][slot.page.id()];
        CHECK(slot.end > std::max(node->begin, page * page_tokens) && slot.end <= last, "slot end {}",
              slot.end);
        CHECK(slot.end == last || kind != KvKind::kFull, "rows of a full attention page are missing");
      }
      CHECK(held == node->held[g]);
      const bool holder = kind != KvKind::kFull && held > 0;
      CHECK(in_order(holders[g]) == holder);
      holder_count[g] += holder;
    }
  }
  CHECK(nodes == stats.nodes && tokens == stats.tokens, "nodes {} {}, tokens {} {}", nodes, stats.nodes,
        tokens, stats.tokens);
  CHECK(leaf_count == leaves.size());
  for (uint32_t g = 0; g < groups; ++g) {
    CHECK(holder_count[g] == holders[g].size());
    pools[g]->check();
    for (PageId id = 0; id < pools[g]->total(); ++id)
      CHECK(references[g][id] == pools[g]->cache_references(id));
  }
}

}  // namespace reprise
