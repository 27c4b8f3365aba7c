#include "text/tokenizer/byte_trie.h"

namespace reprise {

ByteTrie::ByteTrie(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, &Entry::text);
  struct Range {
    size_t begin, end, depth;  // the entries below a node, which agree in their first `depth` bytes
  };
  std::vector<Range> ranges{{0, entries.size(), 0}};
  nodes_.resize(1);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    auto [begin, end, depth] = ranges[i];
    if (begin < end && entries[begin].text.size() == depth) {
      nodes_[i].value = entries[begin].value;
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
}

}  // namespace reprise
