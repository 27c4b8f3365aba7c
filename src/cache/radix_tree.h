// The shape of the prefix cache: private to cache/. See prefix_cache.h for what it is, radix_tree.cc for its
// invariants.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cache/page_pool.h"
#include "cache/page_table.h"
#include "cache/prefix_cache.h"
#include "core/kv.h"
#include "core/token.h"

namespace reprise {

// A node's hold on one page. Rows [page start, end) of it belong to the node's path; for a state group the
// page is the state at position `end`.
struct Slot {
  PageRef page;
  uint32_t end = 0;
};

struct Node {
  Node* parent = nullptr;         // null for a root
  const CacheKey* key = nullptr;  // of a root only
  uint32_t begin = 0;             // position of tokens[0]
  std::vector<TokenId> tokens;    // empty for a root only
  // Per group; entry j is page begin / page_tokens + j, up to the page of the last token.
  std::array<std::vector<Slot>, kMaxKvGroups> slots;
  std::array<uint32_t, kMaxKvGroups> held{};                    // slots that have a page
  std::unordered_map<TokenId, std::unique_ptr<Node>> children;  // by first token
  uint64_t used = 0;                                            // time of the last use; unique

  uint32_t end() const { return begin + static_cast<uint32_t>(tokens.size()); }
  bool leaf() const { return children.empty(); }
};

// The nodes that tokens [0, matched) run through, root excluded; the last may go on past `matched`.
struct Path {
  std::vector<Node*> nodes;
  uint32_t matched = 0;
};

struct PrefixCache::Tree {
  Tree(const KvSpec& spec, std::vector<std::unique_ptr<PagePool>>& pools);
  ~Tree();

  // radix_tree.cc: tokens and shape
  Path walk(const CacheKey& key, TokenSpan tokens) const;
  Path grow(const CacheKey& key, TokenSpan tokens);  // the same, after making it run through all of `tokens`
  Node* split(Node* node, uint32_t at);              // returns the new upper part, which ends at `at`
  void merge_with_only_child(Node* node);
  void remove_leaf(Node* node, TokenId first_token);
  void resize_slots(Node& node);  // after node.tokens has changed
  void set_slot(Node& node, uint32_t group, size_t j, Slot slot);
  void touch(const Path& path);
  void index(Node* node);    // enters it into the LRU orders it belongs to, at node->used
  void unindex(Node* node);  // before its leaf-ness, `held` or `used` changes

  // usable_prefix.cc: what of a path can be used
  uint32_t usable(const Path& path) const;
  KvPages pages(const Path& path, uint32_t tokens) const;

  // eviction.cc
  bool trim(Node* leaf, uint32_t group, uint32_t target_free);
  bool drop_slots(Node* node, uint32_t group, uint32_t target_free);

  void check() const;  // tree_check.cc

  uint32_t first_page(const Node& node) const { return node.begin / page_tokens; }
  uint32_t page_count(uint32_t tokens) const { return (tokens + page_tokens - 1) / page_tokens; }
  uint32_t page_end(uint32_t page) const { return (page + 1) * page_tokens; }

  const KvSpec spec;
  const uint32_t page_tokens;
  const uint32_t groups;
  std::vector<std::unique_ptr<PagePool>>& pools;
  std::map<CacheKey, std::unique_ptr<Node>> roots;
  // Least recently used first: leaves, and per group that is not full attention the nodes with pages of it.
  std::map<uint64_t, Node*> leaves;
  std::array<std::map<uint64_t, Node*>, kMaxKvGroups> holders;
  uint64_t clock = 0;
  mutable CacheStats stats;
};

}  // namespace reprise
