// A wake-up from any thread to one waiting coroutine: how a handler awaits a queue that another thread fills.
//
//   AsyncEvent ready;                                  // a handle; copies share one event
//   queue.on_ready([ready] { ready.set(); });          // any thread, any time, even after the waiter has
//   gone if (!co_await ready.wait(15 * kSecond)) { ... }    // false: the time has passed, send a keep-alive
//
// set() before wait() is remembered once (auto-reset). One waiter at a time. The coroutine resumes on its own
// executor.
#pragma once

#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"

namespace reprise::http {

namespace asio = boost::asio;

class AsyncEvent {
 public:
  AsyncEvent();

  // Cheap, never blocks, never runs the waiter on the caller's stack.
  void set() const;

  // True once set (which it consumes); false after `timeout`. Without a timeout it waits as long as it takes.
  asio::awaitable<bool> wait(std::optional<Nanos> timeout = std::nullopt) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace reprise::http
