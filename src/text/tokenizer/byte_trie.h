// A set of byte strings as a trie, laid out breadth first so that children are neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise {

class ByteTrie {
 public:
  struct Entry {
    std::string_view text;  // not empty; of equal texts the first entry counts
    int32_t value;          // not negative
  };
  struct Node {
    int32_t value = -1;  // of the text that ends here; -1: none does
    uint32_t first = 0;  // its children: nodes_[first, first + count), by rising byte
    uint16_t count = 0;
    uint8_t byte = 0;
  };

  explicit ByteTrie(std::vector<Entry> entries);

  const Node& root() const { return nodes_[0]; }
  const Node* child(const Node& node, uint8_t byte) const {  // null: none
    if (node.count == 256) return &nodes_[node.first + byte];
    const auto children = nodes_.begin() + node.first;
    const auto found = std::lower_bound(children, children + node.count, byte,
                                        [](const Node& n, uint8_t wanted) { return n.byte < wanted; });
    return found == children + node.count || found->byte != byte ? nullptr : &*found;
  }

 private:
  std::vector<Node> nodes_;  // nodes_[0] is the root
};

}  // namespace reprise
