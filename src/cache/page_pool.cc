// Invariants: a page is on the free list exactly when nobody refers to it; cached_ counts the pages the cache
// refers to, evictable_ those that only the cache refers to. The free list is a stack: a page just freed is
// still warm.
#include "cache/page_pool.h"

namespace reprise {

PagePool::PagePool(uint32_t pages) : counts_(pages) {
  free_.reserve(pages);
  for (uint32_t i = pages; i-- > 0;) free_.push_back(i);
}

PagePool::~PagePool() {
  CHECK(free_.size() == counts_.size(), "{} pages still referenced", counts_.size() - free_.size());
}

PageRef PagePool::allocate() {
  if (free_.empty()) return {};
  PageId id = free_.back();
  free_.pop_back();
  return PageRef(this, id, PageHolder::kSequence);
}

void PagePool::retain(PageId id, PageHolder holder) {
  Count& count = counts_[id];
  if (holder == PageHolder::kSequence) {
    if (count.sequences++ == 0 && count.cache > 0) --evictable_;
  } else if (count.cache++ == 0) {
    ++cached_;
    if (count.sequences == 0) ++evictable_;
  }
}

void PagePool::release(PageId id, PageHolder holder) {
  Count& count = counts_[id];
  if (holder == PageHolder::kSequence) {
    CHECK(count.sequences > 0);
    if (--count.sequences == 0 && count.cache > 0) ++evictable_;
  } else {
    CHECK(count.cache > 0);
    if (--count.cache == 0) {
      --cached_;
      if (count.sequences == 0) --evictable_;
    }
  }
  if (count.sequences + count.cache == 0) free_.push_back(id);
}

void PagePool::check() const {
  std::vector<bool> is_free(counts_.size());
  for (PageId id : free_) {
    CHECK(id < counts_.size() && !is_free[id], "page {} is free twice", id);
    is_free[id] = true;
  }
  uint32_t cached = 0, evictable = 0;
  for (size_t id = 0; id < counts_.size(); ++id) {
    const Count& count = counts_[id];
    CHECK(is_free[id] == (count.sequences + count.cache == 0), "page {}", id);
    cached += count.cache > 0;
    evictable += count.cache > 0 && count.sequences == 0;
  }
  CHECK(cached == cached_ && evictable == evictable_, "cached {} {}, evictable {} {}", cached, cached_,
        evictable, evictable_);
}

}  // namespace reprise
