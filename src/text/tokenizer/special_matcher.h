// Finds given texts in text: leftmost first, of those that start at one place the longest, as Hugging Face's
// added tokens are found.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer/byte_trie.h"

namespace reprise {

class SpecialMatcher {
 public:
  using Entry = ByteTrie::Entry;
  struct Match {
    size_t begin;
    size_t end;
    int32_t value;
  };

  SpecialMatcher() : SpecialMatcher(std::vector<Entry>()) {}
  explicit SpecialMatcher(std::vector<Entry> entries) : trie_(std::move(entries)) {
    for (int byte = 0; byte < 256; ++byte)
      starts_[static_cast<size_t>(byte)] = trie_.child(trie_.root(), static_cast<uint8_t>(byte)) != nullptr;
  }
  bool empty() const { return trie_.root().count == 0; }

  // The first match at or after `from` of those that `accept(match)` allows. Time: linear, times the longest
  // entry in the worst case.
  template <typename Accept>
  std::optional<Match> find(std::string_view text, size_t from, Accept accept) const {
    if (empty()) return std::nullopt;
    for (size_t begin = from; begin < text.size(); ++begin) {
      if (!starts_[static_cast<uint8_t>(text[begin])]) continue;
      const ByteTrie::Node* node = &trie_.root();
      std::optional<Match> longest;
      for (size_t i = begin; i < text.size(); ++i) {
        node = trie_.child(*node, static_cast<uint8_t>(text[i]));
        if (node == nullptr) break;
        if (node->value < 0) continue;
        const Match match{begin, i + 1, node->value};
        if (accept(match)) longest = match;
      }
      if (longest) return longest;
    }
    return std::nullopt;
  }
  std::optional<Match> find(std::string_view text, size_t from) const {
    return find(text, from, [](const Match&) { return true; });
  }

 private:
  ByteTrie trie_;
  std::array<bool, 256> starts_{};  // bytes that an entry begins with: ordinary text is passed over fast
};

}  // namespace reprise
