// The memory that request bodies may take together. A body holds its share from its first byte until its
// handler is done with it, so neither slow uploads, nor requests that wait for a worker, nor small bodies
// that decompress to large ones can fill the memory. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace reprise::http {

struct BodyBudget {
  explicit BodyBudget(size_t bytes) : limit(bytes) {}
  const size_t limit;
  std::atomic<size_t> held = 0;
};

// One body's part of a budget; given back at its end. Without a budget it may be of any size.
class BodyShare {
 public:
  BodyShare() = default;
  explicit BodyShare(std::shared_ptr<BodyBudget> budget) : budget_(std::move(budget)) {}
  BodyShare(BodyShare&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyShare& operator=(BodyShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyShare() { shrink_to(0); }

  // False, and nothing changes, where that is more than there is.
  bool grow_to(size_t bytes) {
    if (!budget_ || bytes <= bytes_) return true;
    const size_t more = bytes - bytes_;
    if (budget_->held.fetch_add(more) + more > budget_->limit) {
      budget_->held -= more;
      return false;
    }
    bytes_ = bytes;
    return true;
  }
  void shrink_to(size_t bytes) {
    if (!budget_ || bytes >= bytes_) return;
    budget_->held -= bytes_ - bytes;
    bytes_ = bytes;
  }

 private:
  std::shared_ptr<BodyBudget> budget_;
  size_t bytes_ = 0;
};

}  // namespace reprise::http
