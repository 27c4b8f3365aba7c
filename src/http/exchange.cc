// The handler appends bytes under the mutex and signals `output`; the connection swaps them out, so many
// small writes of a busy handler become one packet. `unsent` counts what the client has not taken: the
// handler waits on it.
#include "http/exchange.h"

#include <ctime>
#include <exception>

#include <boost/asio.hpp>
#include <boost/beast/http/status.hpp>

#include "base/check.h"
#include "base/log.h"
#include "http/exchange_state.h"
#include "http/url.h"

namespace reprise::http {
namespace {

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

// A header part from a handler may hold request text: a line break in it must not become a header of its own.
void append_clean(std::string& out, std::string_view text) {
  for (const char c : text) out += (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? ' ' : c;
}

// Status line and fields; `framing` is complete lines ("Content-Length: 3\r\n").
void append_head(std::string& out, int status, const Headers& headers, std::string_view framing,
                 bool keep_alive, bool http_1_0) {
  const auto reason = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", status,
                 std::string_view(reason.data(), reason.size()));
  for (const auto& [name, value] : headers) {
    append_clean(out, name);
    out += ": ";
    append_clean(out, value);
    out += "\r\n";
  }
  fmt::format_to(std::back_inserter(out), "Date: {}\r\n{}", http_date(), framing);
  if (!keep_alive) out += "Connection: close\r\n";
  if (keep_alive && http_1_0) out += "Connection: keep-alive\r\n";
  out += "\r\n";
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

std::optional<std::string> Request::query_param(std::string_view name) const {
  return query_value(query, name);
}

void Request::drop_body() {
  std::string().swap(body);
  share.shrink_to(0);
}

bool Exchange::State::respond(Response response) {
  bool there;
  {
    std::lock_guard lock(mutex);
    there = !gone;
    CHECK(!started, "a second answer to one request");
    started = ended = true;
    if (context->stopping) keep_alive = false;
    const bool body = has_body(response.status);
    std::string framing;
    if (body) framing = fmt::format("Content-Length: {}\r\n", response.body.size());
    for (const auto& [name, value] : common) response.headers.add(name, value);
    append_head(pending, response.status, response.headers, framing, keep_alive, http_1_0);
    if (body && !head_request) pending += response.body;
    unsent = pending.size();
  }
  output.set();
  return there;
}

void Exchange::State::finish() {
  {
    std::lock_guard lock(callback_mutex);
    callback = nullptr;
  }
  bool silent;
  {
    std::lock_guard lock(mutex);
    silent = !started && !gone;
    if (started ? !ended : gone) cut = true;
  }
  if (silent) {  // the handler may have added headers: respond() adds them
    const Headers none;
    respond(context->refusal(
        {.status = 500, .message = "the server failed to answer this request", .headers = none}));
  }
  output.set();
}

Exchange::State::Output Exchange::State::take() {
  std::lock_guard lock(mutex);
  Output output;
  output.bytes.swap(pending);
  output.last = ended || cut;
  return output;
}

void Exchange::State::sent(size_t bytes) {
  {
    std::lock_guard lock(mutex);
    const bool was_full = unsent > context->options.write_buffer;
    unsent -= bytes;
    if (!was_full || unsent > context->options.write_buffer) return;
  }
  room.set();
}

void Exchange::State::mark_gone() {
  {
    std::lock_guard lock(mutex);
    if (gone) return;
    gone = true;
  }
  room.set();
  std::lock_guard lock(callback_mutex);
  if (callback) std::exchange(callback, nullptr)();
}

bool Exchange::State::reusable() {
  std::lock_guard lock(mutex);
  return keep_alive && ended && !cut && !context->stopping;
}

Exchange::Exchange(std::shared_ptr<State> state) : state_(std::move(state)) {}
Exchange::~Exchange() = default;

void Exchange::add_headers(const Headers& headers) {
  std::lock_guard lock(state_->mutex);
  for (const auto& [name, value] : headers) state_->common.add(name, value);
}

bool Exchange::respond(Response response) { return state_->respond(std::move(response)); }

bool Exchange::begin(int status, const Headers& headers) {
  {
    std::lock_guard lock(state_->mutex);
    CHECK(!state_->started, "a second answer to one request");
    CHECK(has_body(status), "a streamed answer with a status that has no body: {}", status);
    state_->started = state_->streaming = true;
    state_->chunked = !state_->http_1_0;
    if (state_->http_1_0 || state_->context->stopping) state_->keep_alive = false;
    Headers all = headers;
    for (const auto& [name, value] : state_->common) all.add(name, value);
    append_head(state_->pending, status, all, state_->chunked ? "Transfer-Encoding: chunked\r\n" : "",
                state_->keep_alive, state_->http_1_0);
    state_->unsent = state_->pending.size();
  }
  state_->output.set();
  return !gone();
}

asio::awaitable<bool> Exchange::write(std::string bytes) {
  const std::shared_ptr<State> state = state_;
  {
    std::lock_guard lock(state->mutex);
    CHECK(state->streaming && !state->ended, "write() outside begin() and end()");
    if (state->gone) co_return false;
    if (bytes.empty() || state->head_request) co_return true;
    const size_t before = state->pending.size();
    if (state->chunked) fmt::format_to(std::back_inserter(state->pending), "{:x}\r\n", bytes.size());
    state->pending += bytes;
    if (state->chunked) state->pending += "\r\n";
    state->unsent += state->pending.size() - before;
  }
  state->output.set();
  while (true) {
    {
      std::lock_guard lock(state->mutex);
      if (state->gone) co_return false;
      if (state->unsent <= state->context->options.write_buffer) co_return true;
    }
    co_await state->room.wait();
  }
}

bool Exchange::end() {
  {
    std::lock_guard lock(state_->mutex);
    CHECK(state_->streaming && !state_->ended, "end() outside begin()");
    state_->ended = true;
    if (state_->chunked && !state_->head_request) {
      state_->pending += "0\r\n\r\n";
      state_->unsent += 5;
    }
  }
  state_->output.set();
  return !gone();
}

bool Exchange::started() const {
  std::lock_guard lock(state_->mutex);
  return state_->started;
}

bool Exchange::gone() const {
  std::lock_guard lock(state_->mutex);
  return state_->gone;
}

void Exchange::on_gone(std::move_only_function<void()> callback) {
  std::lock_guard lock(state_->callback_mutex);
  if (callback && gone()) {
    callback();
    callback = nullptr;
  }
  state_->callback = std::move(callback);
}

asio::awaitable<void> run_handler(Request request, std::shared_ptr<Exchange::State> state) {
  const std::string what = request.method + " " + request.target;
  const std::shared_ptr<ServerContext> context = state->context;
  try {
    Exchange exchange(state);
    auto answer = context->handler(std::move(request), exchange);
    co_await std::move(answer);
  } catch (const std::exception& error) {
    log::error("http: {}: the handler failed: {}", what, error.what());
  } catch (...) {
    log::error("http: {}: the handler failed", what);
  }
  state->finish();
  context->count(&ServerContext::exchanges, -1);
}

}  // namespace reprise::http
