// How much may be accepted: a budget of unfinished requests and one of prompt tokens that wait to be started.
// Beyond them a client is told to come back later instead of waiting without end. Any thread; holds its lock
// for nanoseconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/check.h"
#include "base/clock.h"
#include "base/result.h"

namespace reprise {

class Admission {
 public:
  Admission(uint32_t max_requests, uint64_t max_queued_tokens)
      : max_requests_(max_requests), max_queued_tokens_(max_queued_tokens) {}

  // Counts a request in. kOverloaded when a budget is full (a single prompt larger than the token budget is
  // accepted when no other waits), kUnavailable after close(). Each success is followed by one started() and
  // one left().
  Result<void> enter(uint64_t prompt_tokens) {
    std::lock_guard lock(mutex_);
    if (closed_) return fail(ErrorKind::kUnavailable, "the server is shutting down");
    if (requests_ >= max_requests_)
      return fail(ErrorKind::kOverloaded, "{} requests are being served, which is the limit; try again later",
                  requests_);
    if (queued_tokens_ > 0 && queued_tokens_ + prompt_tokens > max_queued_tokens_)
      return fail(ErrorKind::kOverloaded, "{} prompt tokens are waiting (limit {}); try again later",
                  queued_tokens_, max_queued_tokens_);
    ++requests_;
    queued_tokens_ += prompt_tokens;
    return {};
  }
  // The prompt waits no longer.
  void started(uint64_t prompt_tokens) {
    std::lock_guard lock(mutex_);
    CHECK(queued_tokens_ >= prompt_tokens);
    queued_tokens_ -= prompt_tokens;
  }
  void left() {
    bool empty = false;
    {
      std::lock_guard lock(mutex_);
      CHECK(requests_ > 0);
      empty = --requests_ == 0;
    }
    if (empty) empty_.notify_all();
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  // Sleeps until there is no request (true), at most for `timeout`.
  bool wait_empty(Nanos timeout) {
    std::unique_lock lock(mutex_);
    return empty_.wait_for(lock, std::chrono::nanoseconds(timeout), [&] { return requests_ == 0; });
  }

 private:
  const uint32_t max_requests_;
  const uint64_t max_queued_tokens_;
  std::mutex mutex_;
  std::condition_variable empty_;
  uint32_t requests_ = 0;
  uint64_t queued_tokens_ = 0;
  bool closed_ = false;
};

}  // namespace reprise
