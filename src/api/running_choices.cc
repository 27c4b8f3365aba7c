// Every queue wakes the same event. A queue is asked to do so only after it was found empty, and the event
// remembers a wake-up that comes before the wait, so none is lost.
#include "api/running_choices.h"

#include "base/check.h"

namespace reprise {

Result<RunningChoices> RunningChoices::submit(Backend& backend, std::vector<Generation> generations) {
  CHECK(!generations.empty());
  RunningChoices running(backend);
  running.choices_.reserve(generations.size());
  for (Generation& generation : generations) {
    Result<Stream> stream = backend.submit(std::move(generation));
    if (!stream) return std::unexpected(std::move(stream).error());
    running.choices_.push_back({stream->id, std::move(stream->events)});
  }
  return running;
}

RunningChoices::~RunningChoices() {
  for (size_t i = 0; i < choices_.size(); ++i) close(i);
}

void RunningChoices::close(size_t choice) {
  if (std::exchange(choices_[choice].events, nullptr)) backend_->cancel(choices_[choice].id);
}

std::optional<RunningChoices::Next> RunningChoices::pop() {
  for (size_t step = 0; step < choices_.size(); ++step) {
    size_t i = (cursor_ + step) % choices_.size();
    if (!choices_[i].events) continue;
    std::optional<Event> event = choices_[i].events->try_pop();
    if (!event) continue;
    cursor_ = i + 1;
    if (std::holds_alternative<Finished>(*event)) choices_[i].events = nullptr;
    return Next{i, std::move(*event)};
  }
  return std::nullopt;
}

http::asio::awaitable<std::optional<RunningChoices::Next>> RunningChoices::next(
    std::optional<Nanos> timeout) {
  std::optional<Next> event = pop();
  if (event) co_return event;
  for (const Open& choice : choices_) {
    if (choice.events) choice.events->on_ready([ready = ready_] { ready.set(); });
  }
  co_await ready_.wait(timeout);
  event = pop();
  co_return event;
}

std::move_only_function<void()> RunningChoices::on_gone() const {
  std::vector<RequestId> ids;
  ids.reserve(choices_.size());
  for (const Open& choice : choices_) ids.push_back(choice.id);
  return [backend = backend_, ids = std::move(ids), ready = ready_] {
    for (RequestId id : ids) backend->cancel(id);
    ready.set();
  };
}

}  // namespace reprise
