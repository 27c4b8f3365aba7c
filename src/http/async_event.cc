// The waiter's continuation is kept in the shared state and posted to the waiter's executor by whoever comes
// first: set() or the timer. `waits` tells a late timer from the one of the wait in progress.
//
// Invariant: the state refers to an executor only while a coroutine waits, so a copy that outlives the server
// is safe.
#include "http/async_event.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include <boost/asio.hpp>

#include "base/check.h"

namespace reprise::http {

struct AsyncEvent::State {
  std::mutex mutex;
  bool set = false;
  uint64_t waits = 0;
  std::move_only_function<void()> resume;  // of the coroutine that waits
};

AsyncEvent::AsyncEvent() : state_(std::make_shared<State>()) {}

void AsyncEvent::set() const {
  std::move_only_function<void()> resume;
  {
    std::lock_guard lock(state_->mutex);
    state_->set = true;
    resume = std::exchange(state_->resume, nullptr);
  }
  if (resume) resume();
}

asio::awaitable<bool> AsyncEvent::wait(std::optional<Nanos> timeout) const {
  const std::shared_ptr<State> state = state_;
  {
    std::lock_guard lock(state->mutex);
    if (std::exchange(state->set, false)) co_return true;
  }
  const auto executor = co_await asio::this_coro::executor;
  std::optional<asio::steady_timer> timer;
  if (timeout) timer.emplace(executor);

  auto start = [state, executor, &timer, timeout](auto handler) {
    // set() may resume the coroutine on another thread at once; it then waits for this lock before it touches
    // the timer. The local copy keeps the mutex alive past the unlock.
    const std::shared_ptr<State> keep = state;
    std::lock_guard lock(keep->mutex);
    if (keep->set) {
      asio::post(executor, std::move(handler));
      return;
    }
    CHECK(!keep->resume, "two coroutines wait for one event");
    const uint64_t wait = ++keep->waits;
    keep->resume = [executor, handler = std::move(handler)]() mutable {
      asio::post(executor, std::move(handler));
    };
    if (!timeout) return;
    timer->expires_after(std::chrono::nanoseconds(*timeout));
    timer->async_wait([keep, wait](boost::system::error_code error) {
      std::move_only_function<void()> resume;
      {
        std::lock_guard lock(keep->mutex);
        if (error || keep->waits != wait) return;
        resume = std::exchange(keep->resume, nullptr);
      }
      if (resume) resume();
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(std::move(start),
                                                                        asio::use_awaitable);

  std::lock_guard lock(state->mutex);
  co_return std::exchange(state->set, false);
}

}  // namespace reprise::http
