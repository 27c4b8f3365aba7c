// Words that are one token: a fixed map from their bytes.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/token.h"
#include "text/tokenizer/word_key.h"

namespace reprise {

class WordTable {
 public:
  struct Entry {
    std::string_view word;  // must outlive the table; not empty; of equal words the first counts
    TokenId token;
  };
  explicit WordTable(const std::vector<Entry>& entries);

  TokenId find(const WordKey& key, uint64_t hash) const {  // -1: none
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.length == 0) return -1;
      if (slot.holds(key)) return slot.token;
    }
  }
  TokenId find_long(std::string_view word) const {  // of more than WordKey::kMaxBytes bytes
    if (word.size() > longest_) return -1;
    const auto found = long_words_.find(word);
    return found == long_words_.end() ? -1 : found->second;
  }

 private:
  struct Slot {
    uint64_t a = 0, b = 0, c = 0;  // WordKey's fields
    uint32_t length = 0;           // 0: free
    TokenId token = -1;
    bool holds(const WordKey& key) const {
      return length == key.length && a == key.a && b == key.b && c == key.c;
    }
  };
  static_assert(sizeof(Slot) == 32);
  std::vector<Slot> slots_;  // open addressing, at most half full
  size_t mask_;
  std::unordered_map<std::string_view, TokenId> long_words_;
  size_t longest_ = 0;
};

}  // namespace reprise
