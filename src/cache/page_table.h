// A sequence's pages of one KV group: references that keep them, and the same as plain ids, contiguous, for a
// batch.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "cache/page_pool.h"

namespace reprise {

// Entry i covers positions [i * page_tokens, (i + 1) * page_tokens). An entry may be empty (kNoPage): outside
// a window, a state that was not kept, a draft prefix that is not there.
class PageTable {
 public:
  size_t size() const { return refs_.size(); }
  const PageRef& operator[](size_t i) const { return refs_[i]; }
  bool has(size_t i) const { return i < refs_.size() && refs_[i]; }
  std::span<const PageId> ids() const { return ids_; }

  // Grows the table as needed; entries skipped over are empty.
  void set(size_t i, PageRef page) {
    if (i >= refs_.size()) resize(i + 1);
    ids_[i] = page.id();
    refs_[i] = std::move(page);
  }
  void resize(size_t entries) {
    refs_.resize(entries);
    ids_.resize(entries, kNoPage);
  }

 private:
  std::vector<PageRef> refs_;
  std::vector<PageId> ids_;
};

using KvPages = std::array<PageTable, kMaxKvGroups>;  // per group of the KvSpec

}  // namespace reprise
