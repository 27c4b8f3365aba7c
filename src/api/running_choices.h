// The submitted generations of one request: their events in one place, and the promise that none runs on
// unread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/backend.h"
#include "http/async_event.h"

namespace reprise {

class RunningChoices {
 public:
  // All or none: when one is refused, those before it are cancelled and the refusal is returned.
  // `generations` holds at least one.
  static Result<RunningChoices> submit(Backend& backend, std::vector<Generation> generations);
  RunningChoices(RunningChoices&&) noexcept = default;
  RunningChoices& operator=(RunningChoices&&) = delete;
  ~RunningChoices();  // cancels what is not finished

  struct Next {
    size_t choice;
    Event event;
  };
  // The next event of any choice, each choice's in order. nullopt after `timeout`, when the client has gone,
  // and now and then without a reason: look and call again. Nothing more comes once all are closed.
  http::asio::awaitable<std::optional<Next>> next(std::optional<Nanos> timeout);

  // Cancels one choice; no more events of it are returned.
  void close(size_t choice);

  // To be called from any thread when the client has gone, also after this object's end: cancels all at once
  // and wakes next(). The backend must still live.
  std::move_only_function<void()> on_gone() const;

 private:
  struct Open {
    RequestId id = 0;
    std::shared_ptr<EventQueue> events;  // null once closed or finished
  };
  explicit RunningChoices(Backend& backend) : backend_(&backend) {}
  std::optional<Next> pop();

  Backend* backend_;
  std::vector<Open> choices_;
  size_t cursor_ = 0;  // choices take turns
  http::AsyncEvent ready_;
};

}  // namespace reprise
