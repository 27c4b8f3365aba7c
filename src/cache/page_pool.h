// KV pages as counted values. A pool hands out the page ids of one KV group; a PageRef keeps its page
// allocated, and the page is free again when the last reference to it is dropped. There is nothing to lock,
// pin or release by hand.
//
// The pool also knows on whose behalf a reference is held, so that "held by the prefix cache alone"
// (evictable) is counted as references come and go. Engine thread only: counts are plain integers. A pool
// outlives its references.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/kv.h"

namespace reprise {

class PagePool;

enum class PageHolder : uint8_t { kSequence, kCache };

class PageRef {
 public:
  PageRef() = default;
  inline PageRef(const PageRef& other);
  PageRef(PageRef&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), id_(other.id_), holder_(other.holder_) {}
  PageRef& operator=(PageRef other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(id_, other.id_);
    std::swap(holder_, other.holder_);
    return *this;
  }
  inline ~PageRef();

  explicit operator bool() const { return pool_ != nullptr; }
  PageId id() const { return pool_ ? id_ : kNoPage; }
  // Another reference to the same page, held for `holder`. Copies keep their original's holder.
  inline PageRef held_by(PageHolder holder) const;

 private:
  friend class PagePool;
  inline PageRef(PagePool* pool, PageId id, PageHolder holder);
  PagePool* pool_ = nullptr;
  PageId id_ = kNoPage;
  PageHolder holder_ = PageHolder::kSequence;
};

class PagePool {
 public:
  explicit PagePool(uint32_t pages);
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // A page nobody else holds, held for a sequence; empty when there is none. Its bytes are whatever they
  // were.
  PageRef allocate();

  uint32_t total() const { return static_cast<uint32_t>(counts_.size()); }
  uint32_t free() const { return static_cast<uint32_t>(free_.size()); }
  uint32_t cached() const { return cached_; }        // held by the cache, perhaps by sequences as well
  uint32_t evictable() const { return evictable_; }  // held by the cache alone
  bool used_by_sequence(PageId id) const { return counts_[id].sequences > 0; }
  bool shared(PageId id) const { return counts_[id].sequences + counts_[id].cache > 1; }
  uint32_t cache_references(PageId id) const { return counts_[id].cache; }

  void check() const;  // aborts unless the counters agree with each other

 private:
  friend class PageRef;
  struct Count {
    uint32_t sequences = 0, cache = 0;
  };
  void retain(PageId id, PageHolder holder);
  void release(PageId id, PageHolder holder);

  std::vector<Count> counts_;
  std::vector<PageId> free_;
  uint32_t cached_ = 0, evictable_ = 0;
};

inline PageRef::PageRef(PagePool* pool, PageId id, PageHolder holder)
    : pool_(pool), id_(id), holder_(holder) {
  pool_->retain(id_, holder_);
}
inline PageRef::PageRef(const PageRef& other) : pool_(other.pool_), id_(other.id_), holder_(other.holder_) {
  if (pool_) pool_->retain(id_, holder_);
}
inline PageRef::~PageRef() {
  if (pool_) pool_->release(id_, holder_);
}
inline PageRef PageRef::held_by(PageHolder holder) const {
  return pool_ ? PageRef(pool_, id_, holder) : PageRef();
}

}  // namespace reprise
