// Finds the texts of special tokens in text: leftmost first, of those that start at one place the longest, as
// Hugging Face's added tokens are found.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/token.h"

namespace reprise {

class SpecialMatcher {
 public:
  struct Entry {
    std::string_view text;  // not empty; of equal texts the first entry counts
    TokenId token;
  };
  struct Match {
    size_t begin;
    size_t end;
    TokenId token;
  };

  explicit SpecialMatcher(std::vector<Entry> entries);
  // The first match at or after `from`. Time: linear, times the longest entry in the worst case.
  std::optional<Match> find(std::string_view text, size_t from) const;

 private:
  struct Node {
    TokenId token = -1;  // of the text that ends here
    uint32_t first = 0;  // its children: nodes_[first, first + count), by rising byte
    uint16_t count = 0;
    uint8_t byte = 0;
  };
  std::vector<Node> nodes_;  // a trie, level by level; nodes_[0] is the root
  std::array<bool, 256> starts_{};
};

}  // namespace reprise
