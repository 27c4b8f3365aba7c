// The bounded queue from the engine to one request's owner. One producer (the engine thread), one consumer.
// A full queue tells the scheduler not to run the sequence until the reader has caught up; Finished is
// accepted even then, so every request ends.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "core/event.h"

namespace reprise {

class EventQueue {
 public:
  // capacity >= 1. `on_space` is called on the consumer's thread each time the queue, having been full, is
  // down to half its capacity: once after every push that filled it. It must not block or call into this
  // queue.
  explicit EventQueue(size_t capacity = 256, std::move_only_function<void()> on_space = nullptr)
      : capacity_(capacity), on_space_(std::move(on_space)) {}

  // Producer. Check full() before scheduling work whose result must be pushed; push itself never refuses.
  void push(Event event) {
    std::move_only_function<void()> wake;
    {
      std::lock_guard lock(mutex_);
      CHECK(!finished_, "event after Finished");
      finished_ = std::holds_alternative<Finished>(event);
      events_.push_back(std::move(event));
      was_full_ = was_full_ || events_.size() >= capacity_;
      wake = std::exchange(on_ready_, nullptr);
    }
    if (wake) wake();
  }
  bool full() const {
    std::lock_guard lock(mutex_);
    return events_.size() >= capacity_;
  }

  // Consumer.
  std::optional<Event> try_pop() {
    std::optional<Event> event;
    bool space = false;
    {
      std::lock_guard lock(mutex_);
      if (events_.empty()) return std::nullopt;
      event = std::move(events_.front());
      events_.pop_front();
      space = was_full_ && events_.size() <= capacity_ / 2;
      if (space) was_full_ = false;
    }
    if (space && on_space_) on_space_();
    return event;
  }
  // Calls `wake` once: now, on this thread, when an event is waiting, else on the engine thread at the next
  // push. It must only post work elsewhere (it must not block or call into this queue). Replaces an earlier
  // waker, uncalled.
  void on_ready(std::move_only_function<void()> wake) {
    {
      std::lock_guard lock(mutex_);
      if (events_.empty()) {
        on_ready_ = std::move(wake);
        return;
      }
    }
    wake();
  }

 private:
  const size_t capacity_;
  std::move_only_function<void()> on_space_;
  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::move_only_function<void()> on_ready_;
  bool finished_ = false;
  bool was_full_ = false;  // and has not been down to half since
};

}  // namespace reprise
