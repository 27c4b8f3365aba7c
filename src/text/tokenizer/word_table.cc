#include "text/tokenizer/word_table.h"

#include <algorithm>
#include <bit>

namespace reprise {

WordTable::WordTable(const std::vector<Entry>& entries) {
  slots_.resize(std::bit_ceil(std::max<size_t>(2 * entries.size(), 2)));
  mask_ = slots_.size() - 1;
  for (const Entry& entry : entries) {
    if (entry.word.size() > WordKey::kMaxBytes) {
      long_words_.try_emplace(entry.word, entry.token);
      longest_ = std::max(longest_, entry.word.size());
      continue;
    }
    const WordKey key = WordKey::of(entry.word);
    size_t i = key.hash() & mask_;
    while (slots_[i].length != 0 && !slots_[i].holds(key)) i = (i + 1) & mask_;
    if (slots_[i].length == 0) slots_[i] = {key.a, key.b, key.c, key.length, entry.token};
  }
}

}  // namespace reprise
