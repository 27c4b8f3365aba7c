// The meeting point of a handler (worker) and its connection (net thread). Internal to http/.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "http/async_event.h"
#include "http/exchange.h"
#include "http/server_context.h"

namespace reprise::http {

struct Exchange::State {
  State(std::shared_ptr<ServerContext> c, bool head, bool http10, bool keep)
      : context(std::move(c)), head_request(head), http_1_0(http10), keep_alive(keep) {}

  // Worker side. respond() of an answer already started is a broken invariant.
  bool respond(Response response);
  // The handler is over: what it left undone is answered 500 (nothing sent) or cut (half sent).
  void finish();

  // Net side.
  struct Output {
    std::string bytes;
    bool last = false;  // nothing follows
  };
  Output take();
  void sent(size_t bytes);  // of those taken
  void mark_gone();         // the client has closed or the connection broke
  // After the last byte: whether the connection may serve another request.
  bool reusable();

  const std::shared_ptr<ServerContext> context;
  const bool head_request;
  const bool http_1_0;
  const AsyncEvent output;  // to net: there are bytes, or it has ended
  const AsyncEvent room;    // to the handler: there is room for more, or the client is gone

  mutable std::mutex mutex;
  bool keep_alive;
  bool started = false;
  bool streaming = false;  // begin() was called
  bool chunked = false;
  bool ended = false;
  bool cut = false;
  bool gone = false;
  Headers common;  // in the head of any answer
  std::string pending;
  size_t unsent = 0;  // pending, and taken but not sent

  // Held while the callback runs, so that on_gone(nullptr) and the end of the exchange wait for it.
  std::mutex callback_mutex;
  std::move_only_function<void()> callback;
};

// Runs the server's handler on one request: the coroutine to spawn on a worker.
asio::awaitable<void> run_handler(Request request, std::shared_ptr<Exchange::State> state);

}  // namespace reprise::http
