// Tokens and shape of the radix tree.
//
// Invariants (verified by check()):
//   * A node covers positions [begin, end), begin is its parent's end; children differ in their first
//     token.
//   * An inner node other than a root has at least two children: a leaf is extended in place, and a
//     node left with one child is merged with it. So a path has one node more than it has branch
//     points, and no page is held for a border.
//   * Every node has every full-attention page from that of its first to that of its last token. Where
//     two nodes meet inside a page, each holds a page for it: the deeper one's has the rows of both.
//   * `used` is unique, so the LRU orders are total and the same calls evict the same pages.
//   * A root exists only with children.
#include "cache/radix_tree.h"

#include <algorithm>

#include "cache/common_prefix.h"

namespace reprise {

PrefixCache::Tree::Tree(const KvSpec& spec, std::vector<std::unique_ptr<PagePool>>& pools)
    : spec(spec),
      page_tokens(spec.page_tokens),
      groups(static_cast<uint32_t>(spec.groups.size())),
      pools(pools) {
  CHECK(page_tokens > 0 && groups > 0 && groups <= kMaxKvGroups && pools.size() == groups);
}

PrefixCache::Tree::~Tree() {
  // Not by recursion: a path may be very deep.
  std::vector<std::unique_ptr<Node>> pending;
  for (auto& [key, root] : roots) pending.push_back(std::move(root));
  while (!pending.empty()) {
    std::unique_ptr<Node> node = std::move(pending.back());
    pending.pop_back();
    for (auto& [token, child] : node->children) pending.push_back(std::move(child));
  }
}

Path PrefixCache::Tree::walk(const CacheKey& key, TokenSpan tokens) const {
  Path path;
  auto root = roots.find(key);
  if (root == roots.end()) return path;
  const Node* node = root->second.get();
  while (path.matched < tokens.size()) {
    auto child = node->children.find(tokens[path.matched]);
    if (child == node->children.end()) break;
    Node* next = child->second.get();
    size_t common = common_prefix(next->tokens, tokens.subspan(path.matched));
    path.nodes.push_back(next);
    path.matched += static_cast<uint32_t>(common);
    if (common < next->tokens.size()) break;
    node = next;
  }
  return path;
}

Path PrefixCache::Tree::grow(const CacheKey& key, TokenSpan tokens) {
  Path path = walk(key, tokens);
  if (path.matched == tokens.size()) return path;
  if (!path.nodes.empty() && path.matched < path.nodes.back()->end()) {
    path.nodes.back() = split(path.nodes.back(), path.matched);
  }
  Node* last;
  if (!path.nodes.empty()) {
    last = path.nodes.back();
  } else {
    auto [it, added] = roots.try_emplace(key);
    if (added) {
      it->second = std::make_unique<Node>();
      it->second->key = &it->first;
      ++stats.nodes;
    }
    last = it->second.get();
  }
  TokenSpan rest = tokens.subspan(path.matched);
  stats.tokens += rest.size();
  stats.inserted_tokens += rest.size();
  path.matched = static_cast<uint32_t>(tokens.size());
  if (last->parent && last->leaf()) {
    last->tokens.insert(last->tokens.end(), rest.begin(), rest.end());
    resize_slots(*last);
    return path;
  }
  auto child = std::make_unique<Node>();
  child->parent = last;
  child->begin = last->end();
  child->tokens.assign(rest.begin(), rest.end());
  child->used = ++clock;
  resize_slots(*child);
  index(child.get());
  path.nodes.push_back(child.get());
  last->children.emplace(rest[0], std::move(child));
  ++stats.nodes;
  return path;
}

Node* PrefixCache::Tree::split(Node* node, uint32_t at) {
  DCHECK(at > node->begin && at < node->end());
  unindex(node);
  std::unique_ptr<Node>& link = node->parent->children.at(node->tokens[0]);
  auto owned = std::make_unique<Node>();
  Node* upper = owned.get();
  upper->parent = node->parent;
  upper->begin = node->begin;
  upper->used = ++clock;
  auto border = node->tokens.begin() + (at - node->begin);
  upper->tokens.assign(node->tokens.begin(), border);
  node->tokens.erase(node->tokens.begin(), border);
  resize_slots(*upper);

  const uint32_t first = first_page(*node);
  node->begin = at;
  for (uint32_t g = 0; g < groups; ++g) {
    std::vector<Slot> all = std::exchange(node->slots[g], {});
    node->held[g] = 0;
    node->slots[g].resize(page_count(node->end()) - first_page(*node));
    for (uint32_t j = 0; j < all.size(); ++j) {
      if (!all[j].page) continue;
      const uint32_t page = first + j, end = all[j].end;
      const bool state = spec.groups[g].kind == KvKind::kState;
      const bool below = end > at;
      const bool above = state ? !below : page * page_tokens < at;
      if (above) set_slot(*upper, g, j, {all[j].page, std::min(end, at)});
      if (below) set_slot(*node, g, page - first_page(*node), std::move(all[j]));
    }
  }
  node->parent = upper;
  upper->children.emplace(node->tokens[0], std::exchange(link, std::move(owned)));
  ++stats.nodes;
  index(node);
  index(upper);
  return upper;
}

void PrefixCache::Tree::merge_with_only_child(Node* node) {
  std::unique_ptr<Node> child = std::move(node->children.begin()->second);
  unindex(node);
  unindex(child.get());
  node->tokens.insert(node->tokens.end(), child->tokens.begin(), child->tokens.end());
  resize_slots(*node);
  const uint32_t offset = first_page(*child) - first_page(*node);
  for (uint32_t g = 0; g < groups; ++g) {
    for (uint32_t j = 0; j < child->slots[g].size(); ++j) {
      if (child->slots[g][j].page) set_slot(*node, g, offset + j, std::move(child->slots[g][j]));
    }
  }
  node->children = std::move(child->children);
  for (auto& [token, grandchild] : node->children) grandchild->parent = node;
  node->used = std::max(node->used, child->used);
  --stats.nodes;
  index(node);
}

void PrefixCache::Tree::remove_leaf(Node* node, TokenId first_token) {
  Node* parent = node->parent;
  parent->children.erase(first_token);
  --stats.nodes;
  if (!parent->parent) {
    if (parent->leaf()) {
      const CacheKey key = *parent->key;
      roots.erase(key);
      --stats.nodes;
    }
  } else if (parent->leaf()) {
    index(parent);
  } else if (parent->children.size() == 1) {
    merge_with_only_child(parent);
  }
}

void PrefixCache::Tree::resize_slots(Node& node) {
  const size_t size = page_count(node.end()) - first_page(node);
  for (uint32_t g = 0; g < groups; ++g) {
    for (size_t j = size; j < node.slots[g].size(); ++j) node.held[g] -= bool(node.slots[g][j].page);
    node.slots[g].resize(size);
  }
}

void PrefixCache::Tree::set_slot(Node& node, uint32_t group, size_t j, Slot slot) {
  Slot& old = node.slots[group][j];
  node.held[group] += bool(slot.page);
  node.held[group] -= bool(old.page);
  if (slot.page) slot.page = slot.page.held_by(PageHolder::kCache);
  old = std::move(slot);
}

// From the deepest node up, so that a node is never older than what hangs below it.
void PrefixCache::Tree::touch(const Path& path) {
  for (size_t i = path.nodes.size(); i-- > 0;) {
    Node* node = path.nodes[i];
    unindex(node);
    node->used = ++clock;
    index(node);
  }
}

void PrefixCache::Tree::index(Node* node) {
  if (node->leaf()) leaves.emplace(node->used, node);
  for (uint32_t g = 0; g < groups; ++g) {
    if (spec.groups[g].kind != KvKind::kFull && node->held[g] > 0) holders[g].emplace(node->used, node);
  }
}

void PrefixCache::Tree::unindex(Node* node) {
  leaves.erase(node->used);
  for (uint32_t g = 0; g < groups; ++g) holders[g].erase(node->used);
}

}  // namespace reprise
