// The bounded queue from the engine to one request's owner. One producer (the engine thread), one consumer.
// A full queue tells the scheduler not to run the sequence; Finished is accepted even then, so every request ends.
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
  explicit EventQueue(size_t capacity = 256) : capacity_(capacity) {}

  // Producer. Check full() before scheduling work whose result must be pushed; push itself never refuses.
  void push(Event event) {
    std::move_only_function<void()> wake;
    {
      std::lock_guard lock(mutex_);
      CHECK(!finished_, "event after Finished");
      finished_ = std::holds_alternative<Finished>(event);
      events_.push_back(std::move(event));
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
    std::lock_guard lock(mutex_);
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  // Calls `wake` once: now, on this thread, when an event is waiting, else on the engine thread at the next push. It
  // must only post work elsewhere (it must not block or call into this queue). Replaces an earlier waker, uncalled.
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
  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::move_only_function<void()> on_ready_;
  bool finished_ = false;
};

}  // namespace reprise
