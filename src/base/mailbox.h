// A bounded queue between threads: any number of producers, one consumer. Used for worker -> engine
// hand-over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "base/clock.h"

namespace reprise {

template <typename T>
class Mailbox {
 public:
  explicit Mailbox(size_t capacity) : capacity_(capacity) {}

  // False when full or closed; the value is then untouched.
  bool try_push(T&& value) {
    {
      std::lock_guard lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(value));
    }
    ready_.notify_one();
    return true;
  }
  // Ignores capacity: for messages that must not be lost (a cancel, a completion). False when closed.
  bool push(T&& value) {
    {
      std::lock_guard lock(mutex_);
      if (closed_) return false;
      items_.push_back(std::move(value));
    }
    ready_.notify_one();
    return true;
  }
  // Takes everything there is. With `wait`, sleeps until there is something or the mailbox is closed.
  std::vector<T> drain(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) ready_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return take();
  }
  // Like drain(true), but sleeps for at most `timeout`.
  std::vector<T> drain_for(Nanos timeout) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, std::chrono::nanoseconds(timeout), [&] { return closed_ || !items_.empty(); });
    return take();
  }
  // Wakes the consumer; later pushes fail, what is queued can still be drained.
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }
  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  std::vector<T> take() {
    std::vector<T> taken(std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
    items_.clear();
    return taken;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace reprise
