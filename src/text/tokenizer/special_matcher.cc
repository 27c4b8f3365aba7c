// Design: a trie laid out breadth first from the sorted texts, so that children are neighbours. A table of
// first bytes passes over ordinary text.
#include "text/tokenizer/special_matcher.h"

#include <algorithm>

namespace reprise {

SpecialMatcher::SpecialMatcher(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, &Entry::text);
  struct Range {
    size_t begin, end, depth;  // the entries below a node, which agree in their first `depth` bytes
  };
  std::vector<Range> ranges{{0, entries.size(), 0}};
  nodes_.resize(1);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    auto [begin, end, depth] = ranges[i];
    if (begin < end && entries[begin].text.size() == depth) {
      nodes_[i].token = entries[begin].token;
      while (begin < end && entries[begin].text.size() == depth) ++begin;
    }
    nodes_[i].first = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char byte = entries[begin].text[depth];
      size_t stop = begin;
      while (stop < end && entries[stop].text[depth] == byte) ++stop;
      ranges.push_back({begin, stop, depth + 1});
      nodes_.push_back({.byte = static_cast<uint8_t>(byte)});
      ++nodes_[i].count;
      begin = stop;
    }
  }
  for (uint32_t i = 0; i < nodes_[0].count; ++i) starts_[nodes_[nodes_[0].first + i].byte] = true;
}

std::optional<SpecialMatcher::Match> SpecialMatcher::find(std::string_view text, size_t from) const {
  if (nodes_[0].count == 0) return std::nullopt;
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!starts_[static_cast<uint8_t>(text[begin])]) continue;
    const Node* node = &nodes_[0];
    std::optional<Match> longest;
    for (size_t i = begin; i < text.size(); ++i) {
      const auto children = nodes_.begin() + node->first;
      const auto byte = static_cast<uint8_t>(text[i]);
      const auto child = std::lower_bound(children, children + node->count, byte,
                                          [](const Node& n, uint8_t wanted) { return n.byte < wanted; });
      if (child == children + node->count || child->byte != byte) break;
      node = &*child;
      if (node->token >= 0) longest = Match{begin, i + 1, node->token};
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

}  // namespace reprise
