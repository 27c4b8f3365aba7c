// A parser of a model's answer, written as a coroutine that reads from top to bottom and waits for text where
// it needs more. Lazy: it runs when it is awaited, or started. Not thread-safe.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <utility>

namespace reprise::calls {

class [[nodiscard]] Parse {
 public:
  struct promise_type {
    std::coroutine_handle<> caller;  // null: it was started, not awaited
    Parse get_return_object() { return Parse(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Return {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          return done.promise().caller ? done.promise().caller : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Return{};
    }
    void return_void() {}
    void unhandled_exception() { std::abort(); }  // none is thrown but for want of memory
  };

  Parse() = default;
  Parse(Parse&& other) noexcept : self_(std::exchange(other.self_, {})) {}
  Parse& operator=(Parse&& other) noexcept {
    std::swap(self_, other.self_);
    return *this;
  }
  ~Parse() {
    if (self_) self_.destroy();
  }

  void start() { self_.resume(); }
  bool done() const { return self_.done(); }

  // co_await parse: runs it to its end. To be used with a named object: GCC 12 mistakes the life of
  // temporaries in a co_await expression.
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    self_.promise().caller = caller;
    return self_;
  }
  void await_resume() const noexcept {}

 private:
  explicit Parse(std::coroutine_handle<promise_type> self) : self_(self) {}
  std::coroutine_handle<promise_type> self_;
};

}  // namespace reprise::calls
