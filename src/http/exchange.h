// One request and its answer, as a handler sees them. A handler is a coroutine on a worker thread; all calls
// of an Exchange come from it. The bytes leave on the connection's net thread, which also watches the client:
// if it goes away, on_gone fires within milliseconds, whether or not anything is being written.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "http/body_budget.h"
#include "http/headers.h"

namespace reprise::http {

namespace asio = boost::asio;

struct Request {
  std::string method;  // "GET", "POST", ... as sent
  std::string target;  // as sent: "/v1/models?limit=10"
  std::string path;    // decoded, without the query: "/v1/models"
  std::string query;   // as sent, without '?': "limit=10"
  Headers headers;
  std::string body;    // complete, chunking removed
  BodyShare share;     // of the memory for bodies; covers `body`
  std::string remote;  // the client's address, "127.0.0.1:51234"

  // Frees the body and gives its share back: for handlers that go on long after they have read it.
  void drop_body();

  // The decoded value of a query parameter, the first of that name.
  std::optional<std::string> query_param(std::string_view name) const;
};

struct Response {
  int status = 200;
  Headers headers;  // without Content-Length, Transfer-Encoding, Connection, Date: those are the server's
  std::string body;
};

class Exchange {
 public:
  struct State;
  explicit Exchange(std::shared_ptr<State> state);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // Fields added to the head of whatever is answered, before respond() or begin().
  void add_headers(const Headers& headers);

  // Either one respond(), or begin(), any number of write()s, end(). All but write() only queue bytes and
  // return. They return false when the client is gone, which needs no further handling than to stop working.

  bool respond(Response response);

  // Starts a streamed answer: chunked, or ended by closing for an HTTP/1.0 client. The head leaves at once.
  bool begin(int status, const Headers& headers);
  // Suspends while more than ServerOptions::write_buffer bytes wait for the client: back-pressure.
  asio::awaitable<bool> write(std::string bytes);
  // Ends a streamed answer. A handler that returns or throws without it cuts the connection, so that the
  // client can tell a cut stream from a complete one. A handler that has sent nothing at all answers 500.
  bool end();

  bool started() const;  // respond() or begin() was called: the status can no longer change
  bool gone() const;     // the client closed its side or the connection broke
  // Calls `callback` once when the client goes: on the net thread, or now if it is gone already. Quick things
  // only (post a cancel, set an event), and not on_gone. What it captures by reference must be cleared with
  // on_gone(nullptr), which waits for a call in progress. Replaces an earlier callback.
  void on_gone(std::move_only_function<void()> callback);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace reprise::http
